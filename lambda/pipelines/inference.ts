import { pipeline } from '../http/pipeline.ts';
import { admitBody } from '../middleware/admit-body.ts';
import { authenticate } from '../middleware/authenticate.ts';
import { chargeQuota } from '../middleware/charge-quota.ts';
import { limitDeployment } from '../middleware/limit-deployment.ts';
import { normalize } from '../middleware/normalize.ts';
import { quotaHeaders } from '../middleware/quota-headers.ts';
import { renderErrors } from '../middleware/render-errors.ts';
import { requireUpstream } from '../middleware/require-upstream.ts';
import { createInferenceExchange, type ExchangeDependencies } from './inference-exchange.ts';
import type { Pipeline, PipelineDependencies } from './pipeline.ts';

/** The path of an inference request: who is calling, may they, what do they want, then the exchange with the upstream. */
export function createInferencePipeline(dependencies: PipelineDependencies & ExchangeDependencies): Pipeline {
  const { deploymentLimit } = dependencies;
  return pipeline(
    [
      renderErrors(dependencies),
      quotaHeaders(dependencies),
      admitBody(dependencies),
      authenticate(dependencies),
      requireUpstream(dependencies),
      chargeQuota(dependencies),
      ...(deploymentLimit ? [limitDeployment({ deploymentLimit })] : []),
      normalize(dependencies),
    ],
    createInferenceExchange(dependencies),
  );
}
