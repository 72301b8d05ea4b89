import { type Memory, smallBody } from '../bodies.ts';
import { callerName } from '../identity/identify.ts';
import { runCooperatively } from '../json/cooperative.ts';
import { budgetOf } from '../quota/policy.ts';
import type { Encoding } from '../request/body.ts';
import type { Body } from '../request/call.ts';
import { decodeBody } from '../request/decode.ts';
import type { Admitted, ArrivedAtInference, Identified, Normalized } from '../request/request.ts';
import { traceparentOf } from '../request/trace.ts';
import type { Needs } from './dependencies.ts';
import { readCall } from './read-call.ts';

export type BodyDependencies = Needs<
  'models' | 'requestBodyLimit' | 'hashIdsOf' | 'prices' | 'reservedOutput' | 'upstreamTrace' | 'budgets'
>;

export type ReadyToRead = ArrivedAtInference & Admitted & Identified;

/** Checks the body and prepares what goes upstream. `estimatesCost`: whether what the request may cost is wanted. */
export async function readBody(
  request: ReadyToRead,
  dependencies: BodyDependencies,
  estimatesCost = false,
): Promise<Normalized> {
  const { route, encoding, identity, headers, trace, takeBody, memory, waitToCount, cutShort } = request;
  const { models, requestBodyLimit, hashIdsOf, prices, reservedOutput, upstreamTrace, budgets } = dependencies;
  const decoded = await decode(await takeBody(), encoding, requestBodyLimit, memory);
  const caller = callerName(identity);
  if (route.endpoint.countsTokens && decoded.length > smallBody) await waitToCount?.(caller);
  const hashIds = await hashIdsOf?.(caller);
  const only = identity.kind === 'member' ? identity.models : undefined;
  return runCooperatively(
    readCall(decoded, route, models, {
      caller,
      headers,
      traceparent: upstreamTrace && trace ? traceparentOf(trace) : undefined,
      hashIds,
      prices,
      isRestricted: only !== undefined || budgetOf(identity, budgets) !== undefined,
      only,
      ...(estimatesCost && { reservedOutput }),
    }),
    cutShort,
  );
}

async function decode(body: Body, encoding: Encoding | 'identity', limit: number, memory: Memory): Promise<Body> {
  // An empty one is refused as empty, not as damaged.
  if (encoding === 'identity' || body.length === 0) return body;
  const text = await decodeBody(body, encoding, limit, memory.take);
  memory.leave(Buffer.byteLength(body));
  return text;
}
