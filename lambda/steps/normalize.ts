import { setImmediate } from 'node:timers/promises';
import { type Memory, smallBody } from '../bodies.ts';
import type { Prices } from '../budget/prices.ts';
import { refuseOtherCase, refuseRouting } from '../dialects/body.ts';
import type { Endpoint } from '../dialects/dialect.ts';
import { excerpt, GatewayError, longestPath, quoteUnlessKey } from '../errors.ts';
import { callerName } from '../identity/identify.ts';
import { type Cooperative, isLong, runCooperatively } from '../json/cooperative.ts';
import { changeMembers, earlierDuplicates, replaceValue } from '../json/edit.ts';
import type { Json } from '../json/scan.ts';
import { loadOnce } from '../load-once.ts';
import { listIds, type Models, type PublicModel } from '../models.ts';
import { budgetOf } from '../quota/policy.ts';
import type { Cost } from '../quota/refusal.ts';
import { type Encoding, readJsonBody } from '../request/body.ts';
import type { Body } from '../request/call.ts';
import type {
  Admitted,
  ArrivedAtInference,
  GatewayStep,
  Identified,
  InferenceCall,
  Normalized,
  ReadAhead,
} from '../request/request.ts';
import type { InferenceRoute } from '../request/routes.ts';
import { traceparentOf } from '../request/trace.ts';
import type { HashIds } from '../upstream/caller-ids.ts';
import { readTraits } from '../upstream/conversation.ts';
import type { Outgoing } from '../upstream/request.ts';
import type { Needs } from './dependencies.ts';

type BodyDependencies = Needs<
  'models' | 'requestBodyLimit' | 'hashIdsOf' | 'prices' | 'reservedOutput' | 'upstreamTrace'
>;

type Readable = ArrivedAtInference & Admitted & Identified;

/**
 * Reads the body before the charge for callers with a budget or a list of models, and a small one beside the charge for others whose
 * key is known: a stranger's body must not cost work before it is charged. What is wrong with the body is thrown after the charge,
 * as for everybody.
 */
export function readAhead(dependencies: BodyDependencies & Needs<'budgets'>): GatewayStep<Readable, ReadAhead> {
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
export function normalize(dependencies: BodyDependencies): GatewayStep<Readable & ReadAhead, Normalized> {
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
  request: Readable,
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

interface Caller {
  readonly caller: string;
  readonly headers: ArrivedAtInference['headers'];
  readonly traceparent?: string | undefined;
  readonly hashIds?: HashIds | undefined;
  /** The prices, where there are any, and what estimates the size of requests. */
  readonly pricing?:
    | { readonly prices: Prices; readonly estimates: Awaited<ReturnType<typeof loadEstimates>> }
    | undefined;
  readonly isRestricted?: boolean;
  /** The ids of the models that the caller may use; undefined if all of them. */
  readonly only?: readonly string[] | undefined;
  /** Only of a caller with a budget, for whom the whole cost is estimated. */
  readonly reservedOutput?: number;
}

/** Reads a body's request. Throws a 400 if it can't be sent. */
export function* readCall(
  received: Body,
  { dialect, endpoint }: Pick<InferenceRoute, 'dialect' | 'endpoint'>,
  models: Models,
  { caller, headers, traceparent, hashIds, pricing, isRestricted, only, reservedOutput }: Caller,
): Cooperative<Normalized> {
  // Of bytes it is known. Later, the text would have to be walked for it.
  const size = pricing === undefined ? 0 : Buffer.byteLength(received);
  const body = yield* readJsonBody(received);
  const { text } = body;
  if (isLong(text)) yield;
  refuseOtherCase(body);
  if (isRestricted) refuseRouting(body);
  const mayUse = ({ id }: PublicModel) => only?.includes(id) ?? true;
  const model = resolveModel(body, models, endpoint, mayUse);
  const stream = readStream(body);
  dialect.checkBody(body);
  if (isLong(text)) yield;
  const ofModel = endpoint.countsTokens ? undefined : pricing?.prices.get(model.value.id);
  const input = ofModel && pricing?.estimates.createInputEstimate(body, size);
  const vision = yield* dialect.searchContent(body, {
    stopsAtVision: model.value.kind === 'text',
    onFile: input?.addFile,
  });
  if (vision !== undefined) {
    const instead = mayUse(models.vision) ? `Use the model ${models.vision.id}.` : 'Leave it out.';
    const message = `${excerpt(vision, longestPath)} holds an image or a video, which ${model.value.id} can't see. ${instead}`;
    throw new GatewayError('invalid_model', message);
  }
  if (isLong(text)) yield;
  // A repeated member could show one value to the checks above and another to the upstream.
  const drop = earlierDuplicates(body, body.root, dialect.controlMembers);
  const { set = {}, edits = [] } = dialect.normalize(body, reservedOutput !== undefined);
  const hashed = hashIds?.(body) ?? [];
  const changes = [...changeMembers(body, body.root, { drop, set }), ...edits, ...hashed];
  if (isLong(text)) yield;
  const hasReferences = dialect.hasReferences ? yield* dialect.hasReferences(body) : false;
  const traits = readTraits(headers, body, dialect);
  if (isLong(text)) yield;
  const { node, value } = model;
  const { start, end } = replaceValue(body, node, '');
  const call: InferenceCall = {
    dialect,
    endpoint,
    model: value,
    stream: stream && !endpoint.countsTokens && !endpoint.makesVectors,
    hasReferences,
    expected: dialect.readExpectedAnswer(body, reservedOutput !== undefined),
  };
  const ready = { conversation: { caller, traits }, text, edits: changes, model: { start, end } };
  const outgoing: Outgoing = { ...call, clientHeaders: headers, traceparent, body: ready };
  if (!pricing || !ofModel || !input) return { call, outgoing };
  const inputTokens = input.tokens();
  if (reservedOutput === undefined) return { call, outgoing, inputTokens };
  const reservation = pricing.estimates.estimateReservation(body, inputTokens, dialect, ofModel, reservedOutput);
  return { call, outgoing, inputTokens, reservation };
}

function resolveModel(
  body: Json,
  models: Models,
  { makesVectors = false }: Endpoint,
  mayUse: (model: PublicModel) => boolean,
) {
  const node = body.member(body.root, 'model');
  const fits = ({ kind }: PublicModel) => (kind === 'embedding') === makesVectors;
  const usable = models.all.filter((one) => fits(one) && mayUse(one)).map(({ id }) => id);
  const known = usable.length > 0 ? `Use ${usable.join(' or ')}.` : 'This key may use no model here.';
  if (node === undefined || body.kind(node) !== 'string') {
    const what = node === undefined ? 'model is missing' : 'model must be a string';
    throw new GatewayError('invalid_request', `${what}. ${known}`);
  }
  const id = body.string(node);
  const value = models.resolve(id);
  if (value === undefined) throw new GatewayError('invalid_model', `model is unknown${quoteUnlessKey(id)}. ${known}`);
  if (fits(value)) return { node, value };
  const message = makesVectors ? `${value.id} makes no embeddings.` : `${value.id} makes only embeddings.`;
  throw new GatewayError('invalid_model', `${message} ${known}`);
}

function readStream(body: Json): boolean {
  const node = body.member(body.root, 'stream');
  if (node === undefined || body.kind(node) === 'null') return false;
  if (body.kind(node) === 'boolean') return body.raw(node) === 'true';
  throw new GatewayError('invalid_request', 'stream must be true or false.');
}
