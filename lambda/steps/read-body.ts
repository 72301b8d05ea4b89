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
import type { ParsedBody, ParseInput } from './parse-body.ts';

export interface BodyDependencies {
  readonly parseBody: Job<ParseInput, ParsedBody>;
  readonly requestBodyLimit: number;
  /** The key to hash caller ids in bodies with; undefined if they pass through unchanged. */
  readonly callerIdKey: (() => Promise<KeyObject>) | undefined;
  readonly prices: Prices | undefined;
  /** In tokens: the output limit to assume if neither the request nor the model's price names one. */
  readonly reservedOutput: number;
  /** Whether `traceparent` is sent upstream. */
  readonly upstreamTrace: boolean;
  /** The default budget of members. */
  readonly budgets: Pick<Limits, 'memberBudget'>;
}

export type ReadyToRead = ArrivedAtInference & Admitted & Identified;

/** Decodes and parses the body, and prepares the upstream request. `estimatesCost`: whether to work out a reservation. */
export async function readBody(
  request: ReadyToRead,
  dependencies: BodyDependencies,
  estimatesCost = false,
): Promise<Normalized> {
  const { route, encoding, identity, headers, trace, takeBody, memory, waitToCount, shutdownSignal } = request;
  const { parseBody, requestBodyLimit, callerIdKey, prices, reservedOutput, upstreamTrace, budgets } = dependencies;
  const { dialect, endpoint } = route;
  const decoded = await decode(await takeBody(), encoding, requestBodyLimit, memory);
  const caller = callerName(identity);
  if (endpoint.countsTokens && decoded.length > smallBody) await waitToCount?.(caller);
  const only = identity.kind === 'member' ? identity.models : undefined;
  const reading: ParseInput = {
    dialect: dialect.name,
    path: endpoint.path,
    headers,
    // Measured here because bytes know their length; a string would have to be walked.
    size: prices === undefined ? 0 : Buffer.byteLength(decoded),
    idKey: await callerIdKey?.(),
    caller,
    isRestricted: only !== undefined || budgetOf(identity, budgets) !== undefined,
    only,
    reservedOutput: estimatesCost ? reservedOutput : undefined,
  };
  const text = readBodyText(decoded);
  const read = await parseBody(text, reading, { caller, signal: shutdownSignal }).catch((fault) => {
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
      usageEdits: read.usageEdits,
      model: read.modelPlace,
      leftOut: read.leftOut,
    },
  };
  return { parsed, outgoing, ...(inputTokens !== undefined && { inputTokens }), ...(reservation && { reservation }) };
}

async function decode(body: Body, encoding: Encoding | 'identity', limit: number, memory: Memory): Promise<Body> {
  // An empty body should be refused as empty, not as corrupt.
  if (encoding === 'identity' || body.length === 0) return body;
  const text = await decodeBody(body, encoding, limit, memory.take);
  memory.leave(Buffer.byteLength(body));
  return text;
}
