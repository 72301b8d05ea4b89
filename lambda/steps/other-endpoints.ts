import { loadOnce } from '../load-once.ts';
import type { GatewayResponse } from '../request/call.ts';
import type { Answer } from '../request/request.ts';
import { authenticate, openPipeline } from './admit.ts';
import { quotaHeaders } from './charge.ts';
import type { StepDependencies } from './dependencies.ts';

/** Few requests ask for models or usage. What describes them is read once. */
const loadDescriptions = loadOnce(() => import('./describe.ts'));

/** So do few for what needs no key. */
const loadAnswerAnybody = loadOnce(async () => (await import('./answer-anybody.ts')).answerAnybody);

/** All endpoints but inference. The models and a caller's usage need a key, and are never charged; the others need none. */
export function createOtherEndpoints(dependencies: StepDependencies): Answer {
  const { quota, models, currency } = dependencies;
  const open = openPipeline(dependencies)
    .step(quotaHeaders(dependencies))
    .handler(async (request) => (await loadAnswerAnybody())(request));
  const forCallers = openPipeline(dependencies)
    .step(quotaHeaders(dependencies))
    .step(authenticate(dependencies))
    .handler(async (request) => {
      const { describeModels, describeUsage } = await loadDescriptions();
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
