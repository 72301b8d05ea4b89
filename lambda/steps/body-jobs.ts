import type { Dialect } from '../dialects/dialect.ts';
import { allDialects as dialects } from '../dialects/index.ts';
import type { SealRemoval } from '../dialects/model/remove-seals.ts';
import type { RequestTranslation } from '../dialects/translation.ts';
import { createRewriteWhole } from '../forward/rewrite.ts';
import type { DefineJob } from '../jobs/jobs.ts';
import type { Json } from '../json/scan.ts';
import type { Config } from '../settings/config.ts';
import { createModels } from '../settings/models.ts';
import { type ParseInput, parseBody } from './parse-body.ts';

/** The settings that the jobs depend on: plain data, so that it can be posted to a worker thread. */
export type WorkFacts = ReturnType<typeof workFactsOf>;

export const workFactsOf = ({ service, budget, upstreams }: Config) => ({
  serviceName: service.serviceName,
  modelAliases: service.modelAliases,
  offersEmbeddings: service.offersEmbeddings,
  prices: budget.prices,
  streamUsage: upstreams.upstreamStreamUsage,
});

/** Imports the translation code, which is large and needed only if some upstream doesn't speak every dialect. */
export type LoadTranslating = () => Promise<typeof import('../forward/translating.ts')>;

/** The CPU-bound work on bodies and responses. Each job runs on the event loop or in a worker thread. */
export function createWork(facts: WorkFacts, loadTranslating: LoadTranslating) {
  const { serviceName, prices, streamUsage } = facts;
  const reader = { dialects, models: createModels(facts), prices, streamUsage };
  return {
    parseBody: (json: Json, reading: ParseInput) => parseBody(json, reading, reader),
    isAccountBound: (json: Json, name: Dialect['name']) =>
      dialects.find((one) => one.name === name)?.isAccountBound(json) ?? false,
    removeSeals: async (json: Json, removal: SealRemoval) => (await loadTranslating()).removeSeals(json, removal),
    translate: async (json: Json, translation: RequestTranslation) =>
      (await loadTranslating()).translate(json, translation),
    rewriteWhole: createRewriteWhole({ dialects, serviceName, loadTranslating }),
  };
}

/** Memory that translation takes per character. The worst case in `test/lambda/growth` is 16.1: responses messages of 30 bytes each. */
const bytesToTranslate = 20;

/** Answers above this many characters go to a thread: rewriting 8 MB of code into a custom tool's input takes half a second. */
const mostAnswerAtOnce = 1_048_576;

/** Registers the work as jobs, each with its name and its costs. */
export function defineJobs(work: ReturnType<typeof createWork>, define: DefineJob) {
  return {
    parseBody: define('parseBody', work.parseBody),
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
