import type { GatewayResponse } from '../request/call.ts';
import type { Answer } from '../request/request.ts';
import { authenticate, openPipeline } from './admit.ts';
import { answerAnybody } from './answer-anybody.ts';
import { quotaHeaders } from './charge.ts';
import type { StepDependencies } from './dependencies.ts';
import { describeModels, describeUsage } from './describe.ts';

/** All endpoints but inference. The models and a caller's usage need a key, and are never charged; the others need none. */
export function createOtherEndpoints(dependencies: StepDependencies): Answer {
  const { quota, models, currency } = dependencies;
  const open = openPipeline(dependencies)
    .step(quotaHeaders(dependencies))
    .handler(async (request) => answerAnybody(request));
  const forCallers = openPipeline(dependencies)
    .step(quotaHeaders(dependencies))
    .step(authenticate(dependencies))
    .handler(async (request) => {
      if (request.route.kind !== 'usage') return json(describeModels(request, models));
      const usage = await quota.readUsage(request.identity);
      request.outcome.figures = usage.figures;
      return json(describeUsage(request.identity, usage, currency, models.text.id));
    });
  return (request) => (['models', 'model', 'usage'].includes(request.route.kind) ? forCallers : open)(request);
}

function json(value: unknown): GatewayResponse {
  return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}
