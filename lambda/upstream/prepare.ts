import type { KeyObject } from 'node:crypto';
import type { Dialect } from '../dialects/dialect.ts';
import { GatewayError } from '../errors.ts';
import { runCooperatively } from '../json/cooperative.ts';
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
}

/** Translates a request to a dialect that the upstream speaks, or rids it of this gateway's seals where it speaks that already. */
export function prepare(outgoing: Outgoing, upstream: Upstream, needs: Needs): Promise<PreparedRequest> {
  const seals = createSeals(needs.sealKey, bodyOf(outgoing).conversation.caller);
  return speaks(upstream, outgoing)
    ? withoutSeals(outgoing, upstream, seals)
    : translated(outgoing, upstream, seals, needs.dialects);
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
  dialects: readonly Dialect[],
): Promise<PreparedRequest> {
  const { dialect, endpoint: asked, model } = outgoing;
  const { text } = bodyOf(outgoing);
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
  const { pieces, headers, answer, ...leftOut } = await runCooperatively(translating());
  return { upstream, url, pieces, leftOut, translated: { dialect: spoken, headers, translation: answer } };
}
