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

/** All that the reading of a body depends on, besides the deployment: plain data, which a thread can be sent. */
export interface BodyReading {
  readonly dialect: Dialect['name'];
  /** The endpoint's. */
  readonly path: string;
  readonly headers: Headers;
  /** The body's, in bytes; needed only where there are prices. */
  readonly size: number;
  /** Hashes what a body says of its caller, if that is wanted. */
  readonly idKey?: KeyObject | undefined;
  /** Names the caller. */
  readonly caller: string;
  readonly isRestricted?: boolean;
  /** The ids of the models that the caller may use; undefined if all of them. */
  readonly only?: readonly string[] | undefined;
  /** Only of a caller with a budget, for whom the whole cost is estimated. */
  readonly reservedOutput?: number | undefined;
}

/** What a body asks for: plain data too. */
export interface ReadCall {
  readonly model: PublicModel;
  readonly stream: boolean;
  readonly hasReferences: boolean;
  readonly expected: ExpectedAnswer;
  /** What the conversation can be told by. */
  readonly traits: readonly string[];
  /** The top-level members that no upstream is told. */
  readonly leftOut?: readonly string[] | undefined;
  /** All changes but that of the model. */
  readonly edits: readonly Edit[];
  /** Where the model's id goes. */
  readonly modelPlace: Omit<Edit, 'text'>;
  readonly inputTokens?: number;
  readonly reservation?: Reservation;
}

/** What a deployment reads bodies with. */
export interface Reader {
  readonly dialects: readonly Dialect[];
  readonly models: Models;
  readonly prices: ReadonlyMap<string, ModelPrices> | undefined;
}

/** Reads what a body asks for. Throws a 400 if it can't be sent. */
export function readCall(body: Json, reading: BodyReading, { dialects, models, prices }: Reader): ReadCall {
  checkJsonBody(body);
  const { only, reservedOutput, idKey, caller } = reading;
  const { dialect, endpoint } = endpointOf(reading, dialects);
  refuseOtherCase(body);
  if (reading.isRestricted) refuseRouting(body);
  const mayUse = ({ id }: PublicModel) => only?.includes(id) ?? true;
  const model = resolveModel(body, models, endpoint, mayUse);
  const stream = readStream(body);
  dialect.checkBody(body);
  const modelPrices = endpoint.countsTokens ? undefined : prices?.get(model.value.id);
  const input = modelPrices && createInputEstimate(body, reading.size);
  const vision = dialect.searchContent(body, {
    stopsAtVision: model.value.kind === 'text',
    onFile: input?.addFile,
  });
  if (vision !== undefined) throw cantSee(model.value, vision, mayUse(models.vision) ? models.vision : undefined);
  // A repeated member could show one value to the checks above and another to the upstream.
  const drop = earlierDuplicates(body, body.root, dialect.controlMembers);
  const { set = {}, leaveOut, edits = [] } = dialect.normalize(body, reservedOutput !== undefined);
  for (const name of leaveOut ?? []) {
    const value = body.member(body.root, name);
    if (value !== undefined) drop.add(value - 1);
  }
  const hashed = idKey ? createHashIds(idKey, caller)(body) : [];
  const { start, end } = replaceValue(body, model.node, '');
  const call: ReadCall = {
    model: model.value,
    stream: stream && !endpoint.countsTokens && !endpoint.embeddings && !endpoint.compacts,
    hasReferences: dialect.hasReferences?.(body) ?? false,
    expected: dialect.readExpectedAnswer(body, reservedOutput !== undefined),
    traits: readTraits(reading.headers, body, dialect),
    leftOut: leaveOut,
    edits: [...changeMembers(body, body.root, { drop, set }), ...edits, ...hashed],
    modelPlace: { start, end },
  };
  if (!modelPrices || !input) return call;
  const inputTokens = input.tokens();
  if (reservedOutput === undefined) return { ...call, inputTokens };
  const reservation = estimateReservation(body, inputTokens, dialect, modelPrices, reservedOutput);
  return { ...call, inputTokens, reservation };
}

function endpointOf({ dialect: name, path }: BodyReading, dialects: readonly Dialect[]) {
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
