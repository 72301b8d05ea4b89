import { formatAmount } from '../budget/money.ts';
import { GatewayError } from '../errors.ts';
import type { Identity } from '../identity/identify.ts';
import { quoteUnlessKey } from '../json/quoting.ts';
import type { Usage } from '../quota/policy.ts';
import type { RequestSoFar } from '../request/request.ts';
import { listIds, type Models, modelId, type PublicModel } from '../settings/models.ts';
import { modelShapeFor } from './model-list.ts';

/** `GET /v1/models` and `/v1/models/{id}`: the models that the caller's key may use. */
export function describeModels({ route, identity, headers }: RequestSoFar, models: Models): object {
  const shape = modelShapeFor(headers, models.text.id);
  const only = identity?.kind === 'member' ? identity.models : undefined;
  const usable = models.all.filter(({ id }) => only?.includes(id) ?? true);
  if (route.kind !== 'model') return shape.list(usable);
  const model = usable.find(({ id }) => id === route.id);
  if (model) return shape.describe(model);
  throw new GatewayError('model_not_found', `There is no model with this name${explain(route.id, usable)}.`);
}

function explain(id: string, usable: readonly PublicModel[]): string {
  if (id === '') return slashTooMany('/v1/models');
  const meant = usable.find((model) => id === `${model.id}/`);
  if (meant) return slashTooMany(`/v1/models/${meant.id}`);
  return `${quoteUnlessKey(id)}. ${usable.length === 1 ? 'The model is' : 'The models are'} ${listIds(usable.map((one) => one.id))}`;
}

const slashTooMany = (path: string): string => `: the path has a slash too many at its end. Use ${path}`;

/** `GET /v1/usage`. */
export function describeUsage(identity: Identity, usage: Usage, currency: string, serviceName: string) {
  const { used, limit, remaining, resetAt, burst, budget } = usage;
  const { keyId, key, models } = identity.kind === 'member' ? identity : {};
  return {
    object: 'usage',
    requests: { limit, used, remaining, resets_at: isoTime(resetAt) },
    burst: { limit: burst },
    budget: budget
      ? {
          currency,
          window: budget.window,
          limit: formatAmount(budget.limit),
          spent: formatAmount(budget.spent),
          reserved: formatAmount(budget.reserved),
          unsettled: formatAmount(budget.unsettled),
          remaining: formatAmount(budget.remaining),
          resets_at: isoTime(budget.resetAt),
          models: budget.uses.map(({ kind, input, output, spent }) => ({
            id: modelId(serviceName, kind),
            input_tokens: input,
            output_tokens: output,
            spent: formatAmount(spent),
          })),
        }
      : null,
    key:
      keyId === undefined
        ? null
        : { id: keyId, label: key?.label ?? null, expires_at: isoTime(key?.expiresAt), models: models ?? null },
  };
}

const isoTime = (time: number | undefined) => (time === undefined ? null : new Date(time).toISOString());
