import type { Callers } from '../identity/identify.ts';
import type { Quota } from '../quota/quota.ts';
import type { HeaderNames } from '../request/headers.ts';
import type { GatewayResponse } from '../request/incoming-request.ts';
import type { Answer } from '../request/request.ts';
import type { Models } from '../settings/models.ts';
import { authenticate, openPipeline } from './admit.ts';
import { answerAnybody } from './answer-anybody.ts';
import { quotaHeaders } from './charge.ts';
import { describeModels, describeUsage } from './describe.ts';

interface Dependencies {
  readonly names: HeaderNames;
  readonly callers: Callers;
  readonly quota: Quota;
  readonly models: Models;
  /** For displayed amounts. */
  readonly currency: string;
  readonly now: () => number;
}

/** Every endpoint except inference. None is charged. Models and usage need a caller; the rest is open to anyone. */
export function createOtherEndpoints({ names, callers, quota, models, currency, now }: Dependencies): Answer {
  const open = openPipeline(names)
    .step(quotaHeaders({ quota, now }))
    .handler(async (request) => answerAnybody(request));
  const forCallers = openPipeline(names)
    .step(quotaHeaders({ quota, now }))
    .step(authenticate(callers))
    .handler(async (request) => {
      if (request.route.kind !== 'usage') return json(describeModels(request, models));
      const usage = await quota.readUsage(request.identity);
      request.outcome.snapshot = usage.snapshot;
      return json(describeUsage(request.identity, usage, currency, models.text.id));
    });
  return (request) => (['models', 'model', 'usage'].includes(request.route.kind) ? forCallers : open)(request);
}

function json(value: unknown): GatewayResponse {
  return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}
