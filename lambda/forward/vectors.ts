import { Readable } from 'node:stream';
import { type GatewayError, toGatewayError } from '../errors.ts';
import { runCooperatively } from '../json/cooperative.ts';
import type { GatewayResponse } from '../request/call.ts';
import type { StreamEnd } from '../stream/relay.ts';
import { rewriteVectors } from '../stream/rewrite-vectors.ts';
import { UpstreamFailure } from '../upstream/failure.ts';
import type { Exchange } from './ask-upstream.ts';
import { rewriteWhole } from './rewrite.ts';
import { type SettleDependencies, settleStream } from './settle.ts';
import { hasLeft, type Waiting, waitFor, whenAborted, whyUnusable } from './waiting.ts';

interface Dependencies extends SettleDependencies {
  readonly now: () => number;
}

/** Passes an answer of vectors on while it comes. */
export async function fetchVectors(exchange: Exchange, dependencies: Dependencies): Promise<GatewayResponse> {
  return waitFor(exchange, dependencies, async (waiting) => {
    const pieces = passOn(exchange, waiting, dependencies);
    const first = await pieces.next();
    const body = Readable.from(pieces, { objectMode: false });
    if (!first.done) body.unshift(first.value);
    whenAborted(exchange.request.clientGone, () => body.destroy());
    return { body };
  });
}

/** Milliseconds after which a client that has not taken a piece holds the upstream back. */
const behindAfter = 100;

/** Throws what keeps the answer from beginning. One that breaks off later ends with its error, and so is no JSON. */
async function* passOn(
  exchange: Exchange,
  { signal, end, readsOn }: Waiting,
  dependencies: Dependencies,
): AsyncGenerator<Buffer> {
  const { request } = exchange;
  const { now } = dependencies;
  let hasBegun = false;
  let wasBehind = false;
  let isOver = false;
  let failure: GatewayError | undefined;
  let pieces: AsyncGenerator<Buffer> | undefined;
  let broken = '';

  const read = async (): Promise<Buffer | undefined> => {
    try {
      pieces ??= rewriteVectors((await exchange.ask({ signal })).body, async (text) =>
        runCooperatively(await rewriteWhole(text, exchange, undefined, now), signal),
      );
      const { value, done } = await pieces.next();
      isOver = done === true;
      return value;
    } catch (cause) {
      isOver = true;
      if (!hasBegun) throw whyUnusable(cause, signal);
      failure = whyBroken(cause, signal, wasBehind);
      return undefined;
    }
  };
  const endOf = (): StreamEnd => {
    if (hasLeft(request) || !isOver)
      return { kind: 'client_gone', isWhole: isOver && !failure, ...(readsOn && { failure }) };
    return failure ? { kind: 'failed', failure } : { kind: 'complete' };
  };

  try {
    for (let piece = await read(); piece !== undefined; piece = await read()) {
      hasBegun = true;
      const sentAt = now();
      yield piece;
      wasBehind ||= now() - sentAt > behindAfter;
    }
  } finally {
    // Its reader has left.
    if (readsOn) while (!isOver) await read();
    else await pieces?.return(undefined);
    end();
    const error = hasBegun ? await settleStream(exchange, endOf(), dependencies) : undefined;
    if (error) broken = `\n${request.call.dialect.renderError(error)}`;
  }
  if (broken !== '') yield Buffer.from(broken);
}

/** Why an answer broke off. A client must not get a refund by reading slowly. */
function whyBroken(cause: unknown, { aborted, reason }: AbortSignal, charged: boolean) {
  if (!aborted) return new UpstreamFailure('cut', { cause, charged });
  return reason instanceof UpstreamFailure ? new UpstreamFailure('deadline') : toGatewayError(reason);
}
