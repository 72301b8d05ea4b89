import type { Dialect } from '../../../lambda/dialects/dialect.ts';
import { embeddings } from '../../../lambda/dialects/embeddings.ts';
import { GatewayError } from '../../../lambda/errors.ts';
import { createScanner } from '../../../lambda/json/scan.ts';
import { createModels } from '../../../lambda/models.ts';
import { keyOf } from '../../../lambda/settings/secrets.ts';
import type { Address } from '../../../lambda/settings/spoken-dialects.ts';
import { readCall } from '../../../lambda/steps/read-call.ts';
import { removeSeals } from '../../../lambda/translate/remove-seals.ts';
import { translate } from '../../../lambda/translate/translation.ts';
import { createHashIds } from '../../../lambda/upstream/caller-ids.ts';
import { bodyOf, renderBody } from '../../../lambda/upstream/request.ts';
import { dialects } from '../../support/rewrite.ts';
import { plainUpstream, seals } from '../translate/request/translate.ts';

const models = createModels({ serviceName: 'svc', offersEmbeddings: true });
const price = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 };
const prices = new Map(models.all.map(({ id }) => [id, price]));
const hashIds = createHashIds(keyOf('a salt of at least 16 characters'), 'caller');
/** With a budget and a list of models, of whom most is read. */
const caller = {
  caller: 'caller',
  headers: {},
  hashIds,
  prices,
  isRestricted: true,
  reservedOutput: 1,
};
const writing = { live: true, model: 'svc', usage: {}, now: () => 0, newHex: () => 'a', takeThought: () => '' };

export const allDialects: readonly Dialect[] = [...dialects, embeddings];

/** All that is done with a request's body until its answer has begun, whoever asks. Pauses wherever others get their turn. */
export function* readRequest(dialect: Dialect, body: Buffer): Generator<undefined, void> {
  const { name } = dialect;
  const [endpoint] = dialect.endpoints;
  if (endpoint === undefined) return;
  try {
    const { outgoing } = yield* readCall(body, { dialect, endpoint }, models, caller);
    yield;
    const { text } = bodyOf(outgoing);
    for (const piece of renderBody(bodyOf(outgoing), 'up-model')) Buffer.byteLength(piece);
    yield;
    yield* dialect.isAccountBound(yield* createScanner().scanInParts(text));
    yield;
    const json = yield* createScanner().scanInParts(text);
    yield* removeSeals(json, dialect.controlMembers, (sealed) => seals.open(name, sealed));
    yield;
    for (const spoken of ['chat', 'messages'] as const) yield* readForUpstream(name, spoken, text);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
  }
}

/** What is done besides for an upstream that speaks only this. */
function* readForUpstream(name: Address, spoken: Address, text: string): Generator<undefined, void> {
  if (name === spoken || name === embeddings.name) return;
  yield;
  const upstream = { dialect: spoken, upstream: { ...plainUpstream, limit: 9, cacheMarks: true }, model: 'up-model' };
  try {
    const { answer } = yield* translate(name, yield* createScanner().scanInParts(text), seals, upstream);
    yield;
    const writer = answer.createWriter(writing);
    writer.begin();
    writer.events.take();
  } catch (error) {
    // What one upstream can't carry, the next may.
    if (!(error instanceof GatewayError)) throw error;
  }
}
