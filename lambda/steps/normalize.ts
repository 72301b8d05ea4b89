import { setImmediate } from 'node:timers/promises';
import { type Memory, smallBody } from '../bodies.ts';
import type { Prices } from '../budget/prices.ts';
import { GatewayError } from '../errors.ts';
import { callerName } from '../identity/identify.ts';
import { runCooperatively } from '../json/cooperative.ts';
import { loadOnce } from '../load-once.ts';
import { listIds } from '../models.ts';
import { budgetOf } from '../quota/policy.ts';
import type { Cost } from '../quota/refusal.ts';
import type { Encoding } from '../request/body.ts';
import type { Body } from '../request/call.ts';
import type {
  Admitted,
  ArrivedAtInference,
  GatewayStep,
  Identified,
  Normalized,
  ReadAhead,
} from '../request/request.ts';
import { traceparentOf } from '../request/trace.ts';
import type { Needs } from './dependencies.ts';
import { readCall } from './read-call.ts';

type BodyDependencies = Needs<
  'models' | 'requestBodyLimit' | 'hashIdsOf' | 'prices' | 'reservedOutput' | 'upstreamTrace'
>;

type ReadyToRead = ArrivedAtInference & Admitted & Identified;

/**
 * Reads the body before the charge for callers with a budget or a list of models, and a small one beside the charge for others whose
 * key is known: a stranger's body must not cost work before it is charged. What is wrong with the body is thrown after the charge,
 * as for everybody.
 */
export function readAhead(dependencies: BodyDependencies & Needs<'budgets'>): GatewayStep<ReadyToRead, ReadAhead> {
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
      const ahead = readBody(request, dependencies, { isRestricted: true, estimates: hasBudget });
      const normalized = await ahead.catch(() => undefined);
      if (!normalized) return { ahead };
      const { id } = normalized.call.model;
      if (models && !models.includes(id)) throw notAllowed(id, models);
      const cost = await costOf(normalized, prices);
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

/** Only where there are prices is the size of requests estimated. What does so is read once. */
const loadEstimates = loadOnce(() => import('../budget/estimate.ts'));

async function costOf({ call, reservation }: Normalized, prices: Prices | undefined): Promise<Cost | undefined> {
  const ofModel = prices?.get(call.model.id);
  if (!reservation || !ofModel) return undefined;
  const { fittingOutput } = await loadEstimates();
  const { limitedBy } = reservation;
  // The largest of them counts, so each has to be small enough.
  const names = limitedBy.length > 0 ? limitedBy : call.dialect.outputLimits.slice(0, 1);
  return {
    total: reservation.total,
    advise: (left) => {
      const tokens = fittingOutput(reservation, ofModel, left);
      return tokens ? `With ${names.join(' and ')} of at most ${tokens} it would fit.` : undefined;
    },
  };
}

function notAllowed(id: string, models: readonly string[]): GatewayError {
  const message = `This key may not use the model ${id}. It may use ${listIds(models)}.`;
  return new GatewayError('model_not_allowed', message);
}

/** Adds the same bytes as came in, except the model, hashed ids and what the dialect normalizes. */
export function normalize(dependencies: BodyDependencies): GatewayStep<ReadyToRead & ReadAhead, Normalized> {
  return {
    before: (request) => request.ahead ?? readBody(request, dependencies),
  };
}

interface Restrictions {
  /** Whether the caller has a budget or a list of models. */
  readonly isRestricted?: boolean;
  /** Whether what the request may cost is wanted. */
  readonly estimates?: boolean;
}

/** Checks the body and prepares what goes upstream. */
async function readBody(
  request: ReadyToRead,
  dependencies: BodyDependencies,
  { isRestricted = false, estimates = false }: Restrictions = {},
): Promise<Normalized> {
  const { route, encoding, identity, headers, trace, takeBody, memory, cutShort } = request;
  const { models, requestBodyLimit, hashIdsOf, prices, reservedOutput, upstreamTrace } = dependencies;
  const decoded = await decode(await takeBody(), encoding, requestBodyLimit, memory);
  const caller = callerName(identity);
  const hashIds = await hashIdsOf?.(caller);
  const pricing = prices && { prices, estimates: await loadEstimates() };
  return runCooperatively(
    readCall(decoded, route, models, {
      caller,
      headers,
      traceparent: upstreamTrace && trace ? traceparentOf(trace) : undefined,
      hashIds,
      pricing,
      isRestricted,
      only: identity.kind === 'member' ? identity.models : undefined,
      ...(estimates && { reservedOutput }),
    }),
    cutShort,
  );
}

/** Few clients encode a body. What decodes it is read once. */
const loadDecoders = loadOnce(() => import('../request/decode.ts'));

async function decode(body: Body, encoding: Encoding | 'identity', limit: number, memory: Memory): Promise<Body> {
  // An empty one is refused as empty, not as damaged.
  if (encoding === 'identity' || body.length === 0) return body;
  const { decodeBody } = await loadDecoders();
  const text = await decodeBody(body, encoding, limit, memory.take);
  memory.leave(Buffer.byteLength(body));
  return text;
}
