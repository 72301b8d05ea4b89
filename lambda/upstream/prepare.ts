import type { KeyObject } from 'node:crypto';
import type { Dialect } from '../dialects/dialect.ts';
import { notOffered } from '../dialects/model/check-body.ts';
import type { RemovedSeals, SealRemoval } from '../dialects/model/remove-seals.ts';
import type { RequestTranslation, Translation } from '../dialects/translation.ts';
import type { Job } from '../jobs/jobs.ts';
import { addressAt, speaks, spokenTo } from './destination.ts';
import { bodyOf, editsOf, modelAt, type Prepare, urlUnder } from './upstream-request.ts';

interface Dependencies {
  readonly removeSeals: Job<SealRemoval, RemovedSeals>;
  readonly translate: Job<RequestTranslation, Translation>;
  /** The dialects that requests may be translated into. */
  readonly dialects: readonly Dialect[];
  readonly readSealSalt: () => Promise<KeyObject>;
}

/** Translates a request into a dialect that the upstream speaks, or removes this gateway's seals if it speaks the client's. */
export function createPrepare({ removeSeals, translate, dialects, readSealSalt }: Dependencies): Prepare {
  const withoutSeals: Prepare = async (outgoing, upstream, signal) => {
    const { dialect, endpoint, model } = outgoing;
    const body = bodyOf(outgoing);
    const { caller } = body.conversation;
    const edits = editsOf(body, upstream, modelAt(upstream, dialect, model));
    const removal = { history: dialect.controlMembers, edits, leftOut: body.leftOut };
    const { text, leftOut, leftOutForLog } = await removeSeals(body.text, removal, { caller, signal });
    const url = urlUnder(upstream.addresses[dialect.name], endpoint);
    return { upstream, url, pieces: [text], leftOut: { leftOut, leftOutForLog } };
  };

  const translated: Prepare = async (outgoing, upstream, signal, withoutReasoning = false) => {
    const { dialect, endpoint: asked, model, clientHeaders } = outgoing;
    const { text, conversation } = bodyOf(outgoing);
    const spoken = dialects.find(({ name }) => name === spokenTo(upstream, outgoing));
    const [endpoint] = spoken?.endpoints ?? [];
    if (!spoken || !endpoint) throw new TypeError('there is no dialect to translate to');
    const address = addressAt(upstream, outgoing);
    if (address === undefined) throw notOffered(asked);
    const url = asked.countsTokens ? address : urlUnder(address, endpoint);
    const { caller } = conversation;
    const sealing = { salt: await readSealSalt(), caller };
    const translation = {
      from: dialect.name,
      into: spoken.name,
      sealing,
      upstream: upstream.translation,
      model: modelAt(upstream, spoken, model),
      isCounted: asked.countsTokens === true,
      version: clientHeaders['anthropic-version'],
      withoutReasoning,
    };
    const written = await translate(text, translation, { caller, signal });
    const { pieces, headers, answer, hasReasoning, leftOut, leftOutForLog } = written;
    const reasoning = withoutReasoning ? 'refused' : hasReasoning ? 'sent' : 'none';
    const { signsThinking } = upstream;
    return {
      upstream,
      url,
      pieces,
      leftOut: { leftOut, leftOutForLog },
      translated: { dialect: spoken, headers, answer, sealing, signsThinking, reasoning },
    };
  };

  return (outgoing, upstream, ...rest) =>
    (speaks(upstream, outgoing) ? withoutSeals : translated)(outgoing, upstream, ...rest);
}
