import type { Dialect } from '../../../lambda/dialects/dialect.ts';
import { embeddings } from '../../../lambda/dialects/embeddings/embeddings.ts';
import type { DialectName } from '../../../lambda/dialects/names.ts';
import { GatewayError } from '../../../lambda/errors.ts';
import * as translating from '../../../lambda/forward/translating.ts';
import { createJobs, type DoInThread } from '../../../lambda/jobs/jobs.ts';
import { readBodyText, toBodyError } from '../../../lambda/request/read-body-text.ts';
import { createModels } from '../../../lambda/settings/models.ts';
import { createWork, type WorkFacts } from '../../../lambda/steps/body-jobs.ts';
import { renderBody } from '../../../lambda/upstream/upstream-request.ts';
import { dialects } from '../../support/rewrite.ts';
import { upstreamNamed } from '../../support/upstream-named.ts';
import { plainUpstream, sealing } from '../dialects/model/request/translate.ts';

const price = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 };
const models = createModels({ serviceName: 'svc', offersEmbeddings: true });

export const facts: WorkFacts = {
  serviceName: 'svc',
  modelAliases: [],
  offersEmbeddings: true,
  prices: new Map(models.all.map(({ id }) => [id, price])),
  streamUsage: false,
};
const writing = { live: true, model: 'svc', usage: {}, now: () => 0, newHex: () => 'a' };

export const allDialects: readonly Dialect[] = [...dialects, embeddings];

/** Creates what does all that is done with a request's body until its answer has begun, whoever asks. */
export function createReadRequest(doInThread?: DoInThread) {
  const work = createWork(facts, async () => translating);
  const define = createJobs(doInThread);
  const parseBody = define('parseBody', work.parseBody);
  const isAccountBound = define('isAccountBound', work.isAccountBound);
  const removeSeals = define('removeSeals', work.removeSeals);
  const translate = define('translate', work.translate, { opensTexts: true });

  /** What is done besides for an upstream that speaks only this. */
  async function readForUpstream(name: DialectName, spoken: DialectName, text: string): Promise<void> {
    if (name === spoken || name === embeddings.name) return;
    const upstream = { ...plainUpstream, limit: 9, cacheMarks: true };
    const asked = { from: name, into: spoken, sealing, upstream, model: 'up-model', isCounted: false };
    const { answer } = await translate(text, asked, sealing);
    const { writer } = translating.openAnswer(answer, sealing, new Set(), writing);
    writer.begin();
    writer.events.take();
  }

  /** Does a part. What one upstream can't carry, the next may. */
  async function attempt(part: () => Promise<unknown>): Promise<void> {
    try {
      await part();
    } catch (fault) {
      const error = toBodyError(fault);
      if (!(error instanceof GatewayError)) throw error;
    }
  }

  return (dialect: Dialect, body: Buffer): Promise<void> =>
    attempt(async () => {
      const { name } = dialect;
      const { path = '' } = dialect.endpoints[0] ?? {};
      const text = readBodyText(body);
      // With a budget and a list of models, of whom most is read.
      const reading = {
        dialect: name,
        path,
        headers: {},
        size: body.length,
        idKey: sealing.salt,
        caller: 'caller',
        isRestricted: true,
        reservedOutput: 1,
      };
      const read = await parseBody(text, reading, sealing);
      const conversation = { caller: 'caller', traits: read.traits };
      const { edits, usageEdits, modelPlace: model } = read;
      const outgoing = { conversation, text, edits, usageEdits, model };
      for (const piece of renderBody(outgoing, upstreamNamed('UPSTREAM'), 'up-model')) Buffer.byteLength(piece);
      await isAccountBound(text, name, sealing);
      await removeSeals(text, { history: dialect.controlMembers, edits }, sealing);
      for (const spoken of ['chat', 'messages'] as const) await attempt(() => readForUpstream(name, spoken, text));
    });
}
