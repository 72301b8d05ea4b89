import { createForward } from '../forward/forward.ts';
import type { Answer, ArrivedAtInference } from '../request/request.ts';
import { admitBody, authenticate, openPipeline, requireUpstream } from './admit.ts';
import { chargeQuota, limitDeployment, limitSpending, quotaHeaders } from './charge.ts';
import type { StepDependencies } from './dependencies.ts';
import { normalize, readAhead } from './normalize.ts';
import { connectUpstream, refresh } from './prefetch.ts';

/** The path of an inference request: who is calling, may they, what do they want, then the exchange with the upstream. */
export function createInference(dependencies: StepDependencies): Answer<ArrivedAtInference> {
  return openPipeline<ArrivedAtInference>(dependencies)
    .step(quotaHeaders(dependencies))
    .step(admitBody(dependencies))
    .step(refresh(dependencies))
    .step(authenticate(dependencies))
    .step(requireUpstream(dependencies))
    .step(limitSpending(dependencies))
    .step(readAhead(dependencies))
    .step(connectUpstream(dependencies))
    .step(chargeQuota(dependencies))
    .step(limitDeployment(dependencies))
    .step(normalize(dependencies))
    .handler(createForward(dependencies));
}
