import { setImmediate } from 'node:timers/promises';
import { fittingOutput } from '../budget/estimate.ts';
import type { Prices } from '../budget/prices.ts';
import { GatewayError } from '../errors.ts';
import { smallBody } from '../http/bodies.ts';
import { budgetOf } from '../quota/policy.ts';
import type { Cost } from '../quota/refusal.ts';
import type { GatewayStep, Normalized, ReadingStarted } from '../request/request.ts';
import { listIds } from '../settings/models.ts';
import { type BodyDependencies, type ReadyToRead, readBody } from './read-body.ts';

/**
 * Parses the body early where that pays off:
 * - before the charge, if the caller has a budget or a list of allowed models;
 * - in parallel with the charge, for any other known key whose body is small and not compressed;
 * - not at all for anyone else. `normalize` parses it after the charge: a stranger's body must not cost CPU time for free.
 *
 * Needs: the body and `identity`. Adds: `normalizing` if it has started, and `cost` for a caller with a budget.
 * Fails: 403 `model_not_allowed`, 503 `unconfigured` for a budget without prices. Faults of the body itself surface in `normalize`,
 * so that they are charged.
 */
export function startReading(dependencies: BodyDependencies): GatewayStep<ReadyToRead, ReadingStarted> {
  const { prices, budgets } = dependencies;
  return {
    before: async (request) => {
      const { identity, route, encoding, size } = request;
      const models = identity.kind === 'member' ? identity.models : undefined;
      const hasBudget = !route.endpoint.countsTokens && budgetOf(identity, budgets) !== undefined;
      if (!hasBudget && !models) {
        const isCheap = identity.kind === 'member' && encoding === 'identity' && size <= smallBody;
        return isCheap ? { normalizing: afterChargeIsSent(() => readBody(request, dependencies)) } : {};
      }
      if (hasBudget && !prices) {
        const message = 'This key has a budget, but no prices are set: the operator has to set them.';
        throw new GatewayError('unconfigured', message);
      }
      const normalizing = readBody(request, dependencies, hasBudget);
      const normalized = await normalizing.catch(() => undefined);
      if (!normalized) return { normalizing };
      const { id } = normalized.parsed.model;
      if (models && !models.includes(id)) throw notAllowed(id, models);
      const cost = costOf(normalized, prices);
      return { normalizing, ...(cost && { cost }) };
    },
  };
}

/** Starts work on the next turn of the event loop, when the charge is on its way. Whoever awaits the result sees its error. */
function afterChargeIsSent<T>(work: () => Promise<T>): Promise<T> {
  const result = setImmediate().then(work);
  result.catch(() => {});
  return result;
}

function costOf({ parsed, reservation }: Normalized, prices: Prices | undefined): Cost | undefined {
  const modelPrices = prices?.get(parsed.model.id);
  if (!reservation || !modelPrices) return undefined;
  const { limitedBy } = reservation;
  // The largest limit counts, so the advice names all of them.
  const names = limitedBy.length > 0 ? limitedBy : parsed.dialect.outputLimits.slice(0, 1);
  return {
    total: reservation.total,
    advise: (left) => {
      const tokens = fittingOutput(reservation, modelPrices, left);
      return tokens ? `With ${names.join(' and ')} of at most ${tokens} it would fit.` : undefined;
    },
  };
}

function notAllowed(id: string, models: readonly string[]): GatewayError {
  const message = `This key may not use the model ${id}. It may use ${listIds(models)}.`;
  return new GatewayError('model_not_allowed', message);
}

/**
 * Parses the body, unless `startReading` has. The upstream gets the same bytes as came in, except for the model's id, hashed caller
 * ids and whatever the dialect normalizes.
 *
 * Needs: the body and `identity`. Adds: `parsed`, `outgoing`, and where there are prices `inputTokens` and `reservation`.
 * Fails: 400 `invalid_request` or `invalid_model`, 413 once decoded.
 */
export function normalize(dependencies: BodyDependencies): GatewayStep<ReadyToRead & ReadingStarted, Normalized> {
  return {
    before: (request) => request.normalizing ?? readBody(request, dependencies),
  };
}
