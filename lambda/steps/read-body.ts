import type { KeyObject } from 'node:crypto';
import type { Prices } from '../budget/prices.ts';
import { smallBody } from '../http/bodies.ts';
import { callerName } from '../identity/identify.ts';
import type { Job } from '../jobs/jobs.ts';
import { budgetOf, type Limits } from '../quota/policy.ts';
import { decodeBody } from '../request/decode-body.ts';
import type { Body } from '../request/incoming-request.ts';
import type { Memory } from '../request/memory.ts';
import { type Encoding, readBodyText, toBodyError } from '../request/read-body-text.ts';
import type { Admitted, ArrivedAtInference, Identified, Normalized, ParsedRequest } from '../request/request.ts';
import { traceparentOf } from '../request/trace.ts';
import type { UpstreamRequest } from '../upstream/upstream-request.ts';
import type { BodyReading, ReadCall } from './read-call.ts';

export interface BodyDependencies {
  /** Reads what a body asks for. */
  readonly readJson: Job<BodyReading, ReadCall>;
  readonly requestBodyLimit: number;
  /** Hashes the ids in callers' bodies; undefined if they pass unchanged. */
  readonly callerIdKey: (() => Promise<KeyObject>) | undefined;
  readonly prices: Prices | undefined;
  /** In tokens, for requests without an output limit to models without one. */
  readonly reservedOutput: number;
  /** Whether upstreams are told of callers' traces. */
  readonly upstreamTrace: boolean;
  /** What members may spend who have no budget of their own. */
  readonly budgets: Pick<Limits, 'memberBudget'>;
}

export type ReadyToRead = ArrivedAtInference & Admitted & Identified;

/** Checks the body and prepares what goes upstream. `estimatesCost`: whether what the request may cost is wanted. */
export async function readBody(
  request: ReadyToRead,
  dependencies: BodyDependencies,
  estimatesCost = false,
): Promise<Normalized> {
  const { route, encoding, identity, headers, trace, takeBody, memory, waitToCount, shutdownSignal } = request;
  const { readJson, requestBodyLimit, callerIdKey, prices, reservedOutput, upstreamTrace, budgets } = dependencies;
  const { dialect, endpoint } = route;
  const decoded = await decode(await takeBody(), encoding, requestBodyLimit, memory);
  const caller = callerName(identity);
  if (endpoint.countsTokens && decoded.length > smallBody) await waitToCount?.(caller);
  const only = identity.kind === 'member' ? identity.models : undefined;
  const reading: BodyReading = {
    dialect: dialect.name,
    path: endpoint.path,
    headers,
    // Of bytes it is known. Later, the text would have to be walked for it.
    size: prices === undefined ? 0 : Buffer.byteLength(decoded),
    idKey: await callerIdKey?.(),
    caller,
    isRestricted: only !== undefined || budgetOf(identity, budgets) !== undefined,
    only,
    reservedOutput: estimatesCost ? reservedOutput : undefined,
  };
  const text = readBodyText(decoded);
  const read = await readJson(text, reading, { caller, signal: shutdownSignal }).catch((fault) => {
    throw toBodyError(fault);
  });
  shutdownSignal?.throwIfAborted();
  const { model, stream, hasReferences, expected, inputTokens, reservation } = read;
  const parsed: ParsedRequest = { dialect, endpoint, model, stream, hasReferences, expected };
  const outgoing: UpstreamRequest = {
    ...parsed,
    clientHeaders: headers,
    traceparent: upstreamTrace && trace ? traceparentOf(trace) : undefined,
    body: {
      conversation: { caller, traits: read.traits },
      text,
      edits: read.edits,
      model: read.modelPlace,
      leftOut: read.leftOut,
    },
  };
  return { parsed, outgoing, ...(inputTokens !== undefined && { inputTokens }), ...(reservation && { reservation }) };
}

async function decode(body: Body, encoding: Encoding | 'identity', limit: number, memory: Memory): Promise<Body> {
  // An empty one is refused as empty, not as damaged.
  if (encoding === 'identity' || body.length === 0) return body;
  const text = await decodeBody(body, encoding, limit, memory.take);
  memory.leave(Buffer.byteLength(body));
  return text;
}
