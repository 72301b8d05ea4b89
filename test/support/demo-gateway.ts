import { settingsFor, startDemoUpstream } from '../../local/demo/demo-upstream.ts';
import { startTestGateway, type TestGateway } from './gateway.ts';

interface Options {
  /** Milliseconds between the events of a stream. */
  readonly pace?: number;
  readonly environment?: Readonly<Record<string, string>>;
  readonly now?: () => number;
}

/** A gateway in front of the demo upstream, which answers all dialects by itself. The fake upstream stays idle. */
export async function startDemoGateway({ pace = 0, environment, now }: Options = {}): Promise<TestGateway> {
  await using started = new AsyncDisposableStack();
  const demo = await startDemoUpstream({ pace });
  started.defer(demo.close);
  const settings = { ...settingsFor(demo), ...environment };
  const gateway = started.use(await startTestGateway({ environment: settings, ...(now && { now }) }));
  const running = started.move();
  return { ...gateway, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
