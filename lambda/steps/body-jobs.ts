import type { Dialect } from '../dialects/dialect.ts';
import { embeddings } from '../dialects/embeddings/embeddings.ts';
import { createDialects } from '../dialects/index.ts';
import type { SealRemoval } from '../dialects/model/remove-seals.ts';
import type { RequestTranslation } from '../dialects/translation.ts';
import { createRewriteWhole } from '../forward/rewrite.ts';
import type { DefineJob } from '../jobs/jobs.ts';
import type { Json } from '../json/scan.ts';
import type { Config } from '../settings/config.ts';
import { createModels } from '../settings/models.ts';
import { type BodyReading, readCall } from './read-call.ts';

/** What work on texts depends on, the same for all of them: plain data, which a thread can be sent. */
export type WorkFacts = ReturnType<typeof workFactsOf>;

export const workFactsOf = ({ service, budget, upstreams }: Config) => ({
  serviceName: service.serviceName,
  modelAliases: service.modelAliases,
  offersEmbeddings: service.offersEmbeddings,
  prices: budget.prices,
  upstreamStreamUsage: upstreams.upstreamStreamUsage,
});

/** All that translates. It is big, and read only where upstreams don't speak every dialect. */
export type LoadTranslating = () => Promise<typeof import('../forward/translating.ts')>;

/** What the gateway does with long texts, by name: here, or in a thread. */
export function createWork(facts: WorkFacts, loadTranslating: LoadTranslating) {
  const { serviceName, prices, upstreamStreamUsage } = facts;
  const dialects = [...createDialects({ streamUsage: upstreamStreamUsage }), embeddings];
  const reader = { dialects, models: createModels(facts), prices };
  return {
    readCall: (json: Json, reading: BodyReading) => readCall(json, reading, reader),
    isAccountBound: (json: Json, name: Dialect['name']) =>
      dialects.find((one) => one.name === name)?.isAccountBound(json) ?? false,
    removeSeals: async (json: Json, removal: SealRemoval) => (await loadTranslating()).removeSeals(json, removal),
    translate: async (json: Json, translation: RequestTranslation) =>
      (await loadTranslating()).translate(json, translation),
    rewriteWhole: createRewriteWhole({ dialects, serviceName, loadTranslating }),
  };
}

/** What translating takes, for each character. Measured: see `test/lambda/growth`, 16.1 for messages of responses in 30 bytes each. */
const bytesToTranslate = 20;

/** Characters of an answer: an argument of 8 MB that is code takes half a second to become a custom tool's input. */
const mostAnswerAtOnce = 1_048_576;

/** The work, done here or in a thread. */
export function defineJobs(work: ReturnType<typeof createWork>, define: DefineJob) {
  return {
    readCall: define('readCall', work.readCall),
    isAccountBound: define('isAccountBound', work.isAccountBound),
    removeSeals: define('removeSeals', work.removeSeals),
    translate: define('translate', work.translate, { opensTexts: true, bytesPerCharacter: bytesToTranslate }),
    rewriteWhole: define('rewriteWhole', work.rewriteWhole, {
      isLenient: true,
      mostCharacters: mostAnswerAtOnce,
      bytesPerCharacter: bytesToTranslate,
    }),
  };
}
