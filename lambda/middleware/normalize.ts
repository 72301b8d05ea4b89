import { refuseOtherCase } from '../dialects/check.ts';
import type { Dialect, Endpoint } from '../dialects/dialect.ts';
import type { Body } from '../http/call.ts';
import { decodeBody, type Encoding } from '../http/decode-body.ts';
import { GatewayError } from '../http/errors.ts';
import { excerpt, longestPath } from '../http/excerpt.ts';
import type { GatewayRequest, InferenceCall, Outgoing } from '../http/gateway-request.ts';
import { readJsonBody } from '../http/read-json-body.ts';
import type { Room } from '../http/room.ts';
import { callerName } from '../identity/identity.ts';
import { changeMembers, earlierDuplicates, replaceValue, splitByEdits } from '../json/edit.ts';
import { createScanner, type Json, type Node } from '../json/scan.ts';
import { inTurns, isLong, type Work } from '../json/turns.ts';
import type { Models } from '../models.ts';
import { type HashId, hashCallerIds } from '../upstream/caller-ids.ts';
import { readTraits } from '../upstream/conversation.ts';
import type { Middleware, PipelineRequest } from './middleware.ts';

interface Dependencies {
  readonly models: Models;
  readonly requestBodyLimit: number;
  /** Creates the hash for the ids in a caller's bodies; undefined if they pass unchanged. */
  readonly hashIdsOf: ((caller: string) => Promise<HashId>) | undefined;
}

/** Checks the body and prepares what goes upstream: the same bytes, except the model, hashed ids and what the dialect normalizes. */
export function normalize({ models, requestBodyLimit, hashIdsOf }: Dependencies): Middleware {
  return {
    before: async ({ event: request }: PipelineRequest) => {
      const { route, encoding = 'identity' } = request;
      if (route.kind !== 'inference') return;
      const body = await request.takeBody();
      const decoded = encoding === 'identity' ? body : await decode(body, encoding, requestBodyLimit, request.room);
      const caller = callerName(request.identity ?? { kind: 'guest', networkId: request.networkId });
      const hashId = await hashIdsOf?.(caller);
      const work = readCall(decoded, route, models, { caller, headers: request.headers, hashId });
      Object.assign(request, await inTurns(work, request.cutShort));
    },
  };
}

async function decode(body: Body, encoding: Encoding, limit: number, room: Room): Promise<Body> {
  if (body.length === 0) return body;
  const text = await decodeBody(body, encoding, limit, room.take);
  room.leave(Buffer.byteLength(body));
  return text;
}

interface Caller {
  readonly caller: string;
  readonly headers: GatewayRequest['headers'];
  readonly hashId?: HashId | undefined;
}

type InferenceRoute = { readonly dialect: Dialect; readonly endpoint: Endpoint };

/** Reads a body's request. Throws a 400 if it can't be sent. */
export function* readCall(
  given: Body,
  { dialect, endpoint }: InferenceRoute,
  models: Models,
  { caller, headers, hashId }: Caller,
): Work<{ readonly call: InferenceCall; readonly outgoing: Outgoing }> {
  const body = yield* readJsonBody(given);
  const { text } = body;
  if (isLong(text)) yield;
  refuseOtherCase(body);
  const model = resolveModel(body, models);
  const stream = readStream(body);
  dialect.checkBody(body);
  if (isLong(text)) yield;
  const vision = model.value.kind === 'text' ? yield* dialect.findVision(body) : undefined;
  if (vision !== undefined) {
    const message = `${excerpt(vision, longestPath)} holds an image or a video, which ${model.value.id} can't see. Use the model ${models.vision.id}.`;
    throw new GatewayError('invalid_model', message);
  }
  if (isLong(text)) yield;
  // A repeated member could show one value to the checks above and another to the upstream.
  const drop = earlierDuplicates(body, body.root, dialect.controlMembers);
  const { set = {}, edits = [] } = dialect.normalize(body);
  const hashed = hashId ? hashCallerIds(body, hashId) : [];
  const changes = [...changeMembers(body, body.root, { drop, set }), ...edits, ...hashed];
  if (isLong(text)) yield;
  const hasReferences = dialect.hasReferences ? yield* dialect.hasReferences(body) : false;
  const traits = readTraits(headers, body, dialect);
  if (isLong(text)) yield;
  const { node, value } = model;
  const place = replaceValue(body, node, '');
  return {
    call: {
      dialect,
      endpoint,
      model: value,
      stream: stream && endpoint.streams,
      hasReferences,
      asked: dialect.readAsked(body),
    },
    outgoing: {
      bodyFor: (upstreamModel) => splitByEdits(text, [...changes, { ...place, text: JSON.stringify(upstreamModel) }]),
      conversation: { caller, traits },
      isAccountBound: async () => dialect.isAccountBound(await inTurns(createScanner().scanInParts(text))),
    },
  };
}

function resolveModel(body: Json, models: Models): { node: Node; value: Models['text'] } {
  const node = body.member(body.root, 'model');
  const known = `Use ${models.text.id} or ${models.vision.id}.`;
  if (node === undefined || body.kind(node) !== 'string') {
    const what = node === undefined ? 'model is missing' : 'model must be a string';
    throw new GatewayError('invalid_request', `${what}. ${known}`);
  }
  const id = body.string(node);
  const value = models.resolve(id);
  if (value === undefined) throw new GatewayError('invalid_model', `model is unknown${models.quote(id)}. ${known}`);
  return { node, value };
}

function readStream(body: Json): boolean {
  const node = body.member(body.root, 'stream');
  if (node === undefined || body.kind(node) === 'null') return false;
  if (body.kind(node) === 'boolean') return body.raw(node) === 'true';
  throw new GatewayError('invalid_request', 'stream must be true or false.');
}
