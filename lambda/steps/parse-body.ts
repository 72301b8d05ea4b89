import type { KeyObject } from 'node:crypto';
import { createInputEstimate, estimateReservation, type Reservation } from '../budget/estimate.ts';
import type { ModelPrices } from '../budget/prices.ts';
import type { Dialect, Endpoint } from '../dialects/dialect.ts';
import { refuseOtherCase, refuseRouting } from '../dialects/model/check-body.ts';
import type { ExpectedAnswer } from '../dialects/model/expected-answer.ts';
import { GatewayError } from '../errors.ts';
import { changeMembers, type Edit, earlierDuplicates, replaceValue } from '../json/edit.ts';
import { excerpt, longestPath, quoteUnlessKey } from '../json/quoting.ts';
import type { Json } from '../json/scan.ts';
import { checkJsonBody } from '../request/read-body-text.ts';
import type { Models, PublicModel } from '../settings/models.ts';
import { createHashIds } from '../upstream/caller-ids.ts';
import { type Headers, readTraits } from '../upstream/conversation.ts';

/** What parsing depends on besides the deployment: plain data, so that it can be posted to a worker thread. */
export interface ParseInput {
  readonly dialect: Dialect['name'];
  /** The endpoint's path. */
  readonly path: string;
  readonly headers: Headers;
  /** Of the body, in bytes; needed only if there are prices. */
  readonly size: number;
  /** Hashes caller ids in the body; undefined if they pass through unchanged. */
  readonly idKey?: KeyObject | undefined;
  /** Identifies the caller. */
  readonly caller: string;
  /** Whether the key has a budget or a list of models, and so may not choose how the upstream routes the request. */
  readonly isRestricted?: boolean;
  /** The ids of the models that the caller may use; undefined for all. */
  readonly only?: readonly string[] | undefined;
  /** Set only for a caller with a budget, whose request gets a cost estimate. */
  readonly reservedOutput?: number | undefined;
}

/** What a body asks for. Plain data too. */
export interface ParsedBody {
  readonly model: PublicModel;
  readonly stream: boolean;
  readonly hasReferences: boolean;
  readonly expected: ExpectedAnswer;
  /** What identifies the conversation, to keep it on one upstream key. */
  readonly traits: readonly string[];
  /** Top-level members that are dropped before any upstream sees them. */
  readonly leftOut?: readonly string[] | undefined;
  /** All edits except the model's id and those that ask for usage. */
  readonly edits: readonly Edit[];
  /** The edits that ask a stream for its usage. */
  readonly usageEdits?: readonly Edit[] | undefined;
  /** Where the model's id goes. */
  readonly modelPlace: Omit<Edit, 'text'>;
  readonly inputTokens?: number;
  readonly reservation?: Reservation;
}

/** What parsing needs from the deployment. */
export interface ParserDependencies {
  readonly dialects: readonly Dialect[];
  readonly models: Models;
  readonly prices: ReadonlyMap<string, ModelPrices> | undefined;
  /** Whether to request usage on every stream, even if the client does not. */
  readonly streamUsage?: boolean;
}

/** Parses and checks a body. Throws a 400 if it can't be sent upstream. */
export function parseBody(body: Json, input: ParseInput, dependencies: ParserDependencies): ParsedBody {
  const { dialects, models, prices, streamUsage = false } = dependencies;
  checkJsonBody(body);
  const { only, reservedOutput, idKey, caller } = input;
  const needsUsage = streamUsage || reservedOutput !== undefined;
  const { dialect, endpoint } = endpointOf(input, dialects);
  refuseOtherCase(body);
  if (input.isRestricted) refuseRouting(body);
  const mayUse = ({ id }: PublicModel) => only?.includes(id) ?? true;
  const model = resolveModel(body, models, endpoint, mayUse);
  const stream = readStream(body);
  dialect.checkBody(body);
  const modelPrices = endpoint.countsTokens ? undefined : prices?.get(model.value.id);
  const estimate = modelPrices && createInputEstimate(body, input.size);
  const vision = dialect.searchContent(body, {
    stopsAtVision: model.value.kind === 'text',
    onFile: estimate?.addFile,
  });
  if (vision !== undefined) throw cantSee(model.value, vision, mayUse(models.vision) ? models.vision : undefined);
  // A duplicate member could show one value to the checks above and another to the upstream.
  const drop = earlierDuplicates(body, body.root, dialect.controlMembers);
  const { set = {}, leaveOut, edits = [] } = dialect.normalize(body);
  for (const name of leaveOut ?? []) {
    const value = body.member(body.root, name);
    if (value !== undefined) drop.add(value - 1);
  }
  const hashed = idKey ? createHashIds(idKey, caller)(body) : [];
  const { start, end } = replaceValue(body, model.node, '');
  const parsed: ParsedBody = {
    model: model.value,
    stream: stream && !endpoint.countsTokens && !endpoint.embeddings && !endpoint.compacts,
    hasReferences: dialect.hasReferences?.(body) ?? false,
    expected: dialect.readExpectedAnswer(body, needsUsage),
    traits: readTraits(input.headers, body, dialect),
    leftOut: leaveOut,
    edits: [...changeMembers(body, body.root, { drop, set }), ...edits, ...hashed],
    usageEdits: needsUsage ? dialect.requestUsage?.(body) : undefined,
    modelPlace: { start, end },
  };
  if (!modelPrices || !estimate) return parsed;
  const inputTokens = estimate.tokens();
  if (reservedOutput === undefined) return { ...parsed, inputTokens };
  const reservation = estimateReservation(body, inputTokens, dialect, modelPrices, reservedOutput);
  return { ...parsed, inputTokens, reservation };
}

function endpointOf({ dialect: name, path }: ParseInput, dialects: readonly Dialect[]) {
  const dialect = dialects.find((one) => one.name === name);
  const endpoint = dialect?.endpoints.find((one) => one.path === path);
  if (!dialect || !endpoint) throw new TypeError(`there is no endpoint ${path} of ${name}`);
  return { dialect, endpoint };
}

function resolveModel(
  body: Json,
  models: Models,
  { embeddings = false }: Endpoint,
  mayUse: (model: PublicModel) => boolean,
) {
  const node = body.member(body.root, 'model');
  const fits = ({ kind }: PublicModel) => (kind === 'embedding') === embeddings;
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
  const message = embeddings ? `${value.id} makes no embeddings.` : `${value.id} makes only embeddings.`;
  throw new GatewayError('invalid_model', `${message} ${known}`);
}

/** Refuses an image or a video at this path. `instead`: a model with vision, if the caller may use one. */
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
