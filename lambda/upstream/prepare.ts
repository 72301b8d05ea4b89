import type { KeyObject } from 'node:crypto';
import { smallBody } from '../bodies.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { GatewayError } from '../errors.ts';
import { createJobQueue } from '../jobs/queue.ts';
import { atOnce, runCooperatively } from '../json/cooperative.ts';
import { createScanner } from '../json/scan.ts';
import type { Upstream } from '../settings/upstreams.ts';
import { removeSeals } from '../translate/remove-seals.ts';
import { createSeals, type Seals } from '../translate/seal.ts';
import { translate } from '../translate/translation.ts';
import { addressAt, speaks, spokenTo } from './destination.ts';
import { bodyOf, modelAt, type Outgoing, type PreparedRequest, renderBody, urlUnder } from './request.ts';

interface Needs {
  readonly dialects: readonly Dialect[];
  readonly sealKey: KeyObject;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/**
 * What a body becomes while it is read and translated, for each of its bytes. Measured over all shapes of `test/lambda/growth`, with
 * 0.5 and 6.2 MB of each: 16.1 for the worst, messages of responses in 30 bytes each; 14.5 for chat's, 10 for calls, 8.6 for cache
 * marks. Short tools became 18.3 while there could be more than 10,000.
 */
const becomes = 20;

const mebibyte = 1_048_576;

/**
 * The translations of all long bodies of this process. One after another, as all together they would be in memory at once, and none
 * would be done earlier.
 */
export const translations = createJobQueue({
  concurrency: 1,
  memory: 128 * mebibyte,
  patience: 10_000,
  mostWaiting: 100,
  refuse: tooMany,
});

/** Translates a request to a dialect that the upstream speaks, or rids it of this gateway's seals where it speaks that already. */
export function prepare(outgoing: Outgoing, upstream: Upstream, needs: Needs): Promise<PreparedRequest> {
  const seals = createSeals(needs.sealKey, bodyOf(outgoing).conversation.caller);
  return speaks(upstream, outgoing)
    ? withoutSeals(outgoing, upstream, seals)
    : translated(outgoing, upstream, seals, needs);
}

async function withoutSeals(outgoing: Outgoing, upstream: Upstream, seals: Seals): Promise<PreparedRequest> {
  const { dialect, endpoint, model } = outgoing;
  const body = bodyOf(outgoing);
  const removing = function* () {
    const json = yield* createScanner().scanInParts(body.text);
    return yield* removeSeals(json, dialect.controlMembers, (one) => seals.open(dialect.name, one));
  };
  const { edits, ...leftOut } = await runCooperatively(removing());
  const pieces = renderBody({ ...body, edits: [...body.edits, ...edits] }, modelAt(upstream, dialect, model));
  return { upstream, url: urlUnder(upstream.addresses[dialect.name], endpoint), pieces, leftOut };
}

async function translated(
  outgoing: Outgoing,
  upstream: Upstream,
  seals: Seals,
  { dialects, signal }: Needs,
): Promise<PreparedRequest> {
  const { dialect, endpoint: asked, model } = outgoing;
  const { text, conversation } = bodyOf(outgoing);
  const spoken = dialects.find(({ name }) => name === spokenTo(upstream, outgoing));
  const [endpoint] = spoken?.endpoints ?? [];
  if (!spoken || !endpoint) throw new TypeError('there is no dialect to translate to');
  const address = addressAt(upstream, outgoing);
  if (address === undefined) throw new GatewayError('not_found', 'Counting tokens is not offered here.');
  const url = asked.countsTokens ? address : urlUnder(address, endpoint);
  const into = {
    dialect: spoken.name,
    upstream: upstream.translation,
    model: modelAt(upstream, spoken, model),
    isCounted: asked.countsTokens === true,
  };
  const translating = function* () {
    return yield* translate(dialect.name, yield* createScanner().scanInParts(text), seals, into);
  };
  const job = { caller: conversation.caller, memory: becomes * text.length, signal };
  const isLong = text.length > smallBody;
  const { pieces, headers, answer, ...leftOut } = isLong
    ? await translations.run(job, () => runCooperatively(translating(), signal))
    : // Without a pause: what only one of them becomes is in memory at a time.
      atOnce(translating());
  return { upstream, url, pieces, leftOut, translated: { dialect: spoken, headers, translation: answer } };
}

function tooMany(): GatewayError {
  const message = 'The gateway is busy with too many large requests. Please try again in a moment.';
  return new GatewayError('service_unavailable', message, { refund: true, reason: 'translations' });
}
