import { startDemoUpstream } from '../../../local/demo/demo-upstream.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';

interface Options {
  /** Milliseconds between the events of a stream. */
  readonly pace: number;
  readonly environment?: Readonly<Record<string, string>>;
  readonly now?: () => number;
}

/** A real gateway in front of the demo upstream, with names for the doctor to look for. */
export async function startDemoGateway({ pace, environment, now }: Options): Promise<TestGateway> {
  const demo = await startDemoUpstream({ pace });
  const gateway = await startTestGateway({
    environment: {
      UPSTREAM_BASE_URL: demo.url,
      UPSTREAM_API_KEYS: demo.apiKey,
      UPSTREAM_TEXT_MODEL: demo.textModel,
      UPSTREAM_VISION_MODEL: demo.visionModel,
      UPSTREAM_NAMES: demo.names.join(','),
      ...environment,
    },
    ...(now && { now }),
  });
  let members = 0;
  return {
    ...gateway,
    // Each key has its own member, so that no test spends another's quota.
    issueKey: (request) => {
      members += 1;
      return gateway.issueKey({ member: `member-${members}`, ...request });
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await demo.close();
    },
  };
}
