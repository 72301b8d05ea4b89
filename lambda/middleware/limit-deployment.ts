import type { DeploymentLimit } from '../quota/deployment-limit.ts';
import type { Middleware, PipelineRequest } from './middleware.ts';

/** Counts a charged request towards the limits of the whole deployment. Comes after the charge, which a refusal here refunds. */
export function limitDeployment({ deploymentLimit }: { deploymentLimit: DeploymentLimit }): Middleware {
  return {
    before: async ({ event: request }: PipelineRequest) => {
      const { identity, charge } = request;
      if (identity === undefined || charge === undefined) return;
      const counted = await deploymentLimit.count(identity, charge);
      request.charge = counted.charge;
      request.limitsUsed = counted.used;
    },
  };
}
