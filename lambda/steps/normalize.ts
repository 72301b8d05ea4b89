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
 * Parses the body early. For a caller with a budget or a list of models: before the charge. For another known key, if the body is small
 * and not compressed: in parallel with the charge. All others are parsed after it, because a stranger's body must not cost work before
 * it is charged. What is wrong with a body is always thrown after the charge.
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
        return isCheap ? { ahead: onceCharging(() => readBody(request, dependencies)) } : {};
      }
      if (hasBudget && !prices) {
        const message = 'This key has a budget, but no prices are set: the operator has to set them.';
        throw new GatewayError('unconfigured', message);
      }
      const ahead = readBody(request, dependencies, hasBudget);
      const normalized = await ahead.catch(() => undefined);
      if (!normalized) return { ahead };
      const { id } = normalized.parsed.model;
      if (models && !models.includes(id)) throw notAllowed(id, models);
      const cost = costOf(normalized, prices);
      return { ahead, ...(cost && { cost }) };
    },
  };
}

/** Does work once the charge has left. Whoever needs the result finds out what fails. */
function onceCharging<T>(work: () => Promise<T>): Promise<T> {
  const result = setImmediate().then(work);
  result.catch(() => {});
  return result;
}

function costOf({ parsed, reservation }: Normalized, prices: Prices | undefined): Cost | undefined {
  const modelPrices = prices?.get(parsed.model.id);
  if (!reservation || !modelPrices) return undefined;
  const { limitedBy } = reservation;
  // The largest of them counts, so each has to be small enough.
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

/** Adds the same bytes as came in, except the model, hashed ids and what the dialect normalizes. */
export function normalize(dependencies: BodyDependencies): GatewayStep<ReadyToRead & ReadingStarted, Normalized> {
  return {
    before: (request) => request.ahead ?? readBody(request, dependencies),
  };
}
