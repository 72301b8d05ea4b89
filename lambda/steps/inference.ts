import { createForward, type ForwardDependencies } from '../forward/forward.ts';
import type { DeploymentLimit } from '../quota/deployment-limit.ts';
import type { HeaderNames } from '../request/headers.ts';
import type { Answer, ArrivedAtInference } from '../request/request.ts';
import {
  type AuthenticateDependencies,
  admitBody,
  authenticate,
  openPipeline,
  requireUpstream,
  type UpstreamDependencies,
} from './admit.ts';
import { type ChargeDependencies, chargeQuota, limitDeployment, limitSpending, quotaHeaders } from './charge.ts';
import { normalize, type ReadAheadDependencies, readAhead } from './normalize.ts';

export interface InferenceDependencies
  extends AuthenticateDependencies,
    UpstreamDependencies,
    ChargeDependencies,
    ReadAheadDependencies,
    ForwardDependencies {
  /** Undefined if the operator has set no limit for all callers together. */
  readonly deploymentLimit: DeploymentLimit | undefined;
  readonly names: HeaderNames;
}

/** The path of an inference request: who is calling, may they, what do they want, then the exchange with the upstream. */
export function createInference(dependencies: InferenceDependencies): Answer<ArrivedAtInference> {
  return openPipeline<ArrivedAtInference>(dependencies)
    .step(quotaHeaders(dependencies))
    .step(admitBody(dependencies))
    .step(authenticate(dependencies))
    .step(requireUpstream(dependencies))
    .step(limitSpending(dependencies.spendLimit))
    .step(readAhead(dependencies))
    .step(chargeQuota(dependencies))
    .step(limitDeployment(dependencies.deploymentLimit))
    .step(normalize(dependencies))
    .handler(createForward(dependencies));
}
