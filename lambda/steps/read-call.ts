import { createInputEstimate, estimateReservation } from '../budget/estimate.ts';
import type { Prices } from '../budget/prices.ts';
import type { Endpoint } from '../dialects/dialect.ts';
import { refuseOtherCase, refuseRouting } from '../dialects/refusals.ts';
import { GatewayError } from '../errors.ts';
import { type Cooperative, isLong } from '../json/cooperative.ts';
import { changeMembers, earlierDuplicates, replaceValue } from '../json/edit.ts';
import type { Json } from '../json/scan.ts';
import type { Models, PublicModel } from '../models.ts';
import { excerpt, longestPath, quoteUnlessKey } from '../quoting.ts';
import { readJsonBody } from '../request/body.ts';
import type { Body } from '../request/call.ts';
import type { InferenceCall, Normalized } from '../request/request.ts';
import type { InferenceRoute } from '../request/routes.ts';
import type { HashIds } from '../upstream/caller-ids.ts';
import { type Headers, readTraits } from '../upstream/conversation.ts';
import type { Outgoing } from '../upstream/request.ts';

interface ReadCallOptions {
  /** Names the caller. */
  readonly caller: string;
  readonly headers: Headers;
  readonly traceparent?: string | undefined;
  readonly hashIds?: HashIds | undefined;
  /** Where there are any, the size of requests is estimated. */
  readonly prices?: Prices | undefined;
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
  { caller, headers, traceparent, hashIds, prices, isRestricted, only, reservedOutput }: ReadCallOptions,
): Cooperative<Normalized> {
  // Of bytes it is known. Later, the text would have to be walked for it.
  const size = prices === undefined ? 0 : Buffer.byteLength(received);
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
  const modelPrices = endpoint.countsTokens ? undefined : prices?.get(model.value.id);
  const input = modelPrices && createInputEstimate(body, size);
  const vision = yield* dialect.searchContent(body, {
    stopsAtVision: model.value.kind === 'text',
    onFile: input?.addFile,
  });
  if (vision !== undefined) throw cantSee(model.value, vision, mayUse(models.vision) ? models.vision : undefined);
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
  const outgoing: Outgoing = {
    ...call,
    clientHeaders: headers,
    traceparent,
    body: { conversation: { caller, traits }, text, edits: changes, model: { start, end } },
  };
  if (!modelPrices || !input) return { call, outgoing };
  const inputTokens = input.tokens();
  if (reservedOutput === undefined) return { call, outgoing, inputTokens };
  const reservation = estimateReservation(body, inputTokens, dialect, modelPrices, reservedOutput);
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

/** The refusal of an image or a video at this path. `instead`: a model that sees it, if the caller may use one. */
function cantSee({ id }: PublicModel, path: string, instead: PublicModel | undefined): GatewayError {
  const remedy = instead ? `Use the model ${instead.id}.` : 'Leave it out.';
  const message = `${excerpt(path, longestPath)} holds an image or a video, which ${id} can't see. ${remedy}`;
  return new GatewayError('invalid_model', message);
}

function readStream(body: Json): boolean {
  const node = body.member(body.root, 'stream');
  if (node === undefined || body.kind(node) === 'null') return false;
  if (body.kind(node) === 'boolean') return body.raw(node) === 'true';
  throw new GatewayError('invalid_request', 'stream must be true or false.');
}
