import { startDemoGateway } from '../../support/demo-gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

/** A gateway in front of the demo. Each key has a member of its own, so that no test spends another's quota. */
export async function startGatewayOfMembers(options: Parameters<typeof startDemoGateway>[0]): Promise<TestGateway> {
  const gateway = await startDemoGateway(options);
  let members = 0;
  return {
    ...gateway,
    issueKey: (request) => {
      members += 1;
      return gateway.issueKey({ member: `member-${members}`, ...request });
    },
  };
}
