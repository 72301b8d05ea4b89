import type { KeyObject } from 'node:crypto';
import type { Dialect } from '../dialects/dialect.ts';
import { GatewayError } from '../errors.ts';
import { runCooperatively } from '../json/cooperative.ts';
import { createScanner } from '../json/scan.ts';
import type { Upstream } from '../settings/upstreams.ts';
import { createSeals } from '../translate/seal.ts';
import { isTranslatable } from '../translate/translate-request.ts';
import { translate } from '../translate/translation.ts';
import type { Outgoing, TranslatedRequest } from './request.ts';

/** Throws a GatewayError if the request can't be carried. */
export type Translate = (outgoing: Outgoing, text: string, upstream: Upstream) => Promise<TranslatedRequest>;

/** Translates requests of the other dialects to the one that every upstream speaks. */
export function createTranslate(
  dialects: readonly Dialect[],
  readSubkey: (label: string) => Promise<KeyObject>,
): Translate {
  const common = dialects.find(({ name }) => !isTranslatable(name));
  const [endpoint] = common?.endpoints ?? [];
  if (common === undefined || endpoint === undefined) throw new TypeError('there is no dialect to translate to');
  return async ({ dialect: { name }, endpoint: asked, model, body }, text, upstream) => {
    const { addresses, models, translation } = upstream;
    const url = asked.optional ? translation.tokenizeUrl : addresses[endpoint.address] + endpoint.upstreamPath;
    if (url === undefined) throw new GatewayError('not_found', 'Counting tokens is not offered here.');
    const seals = createSeals(await readSubkey('seals'), body?.conversation.caller ?? '');
    const target = { upstream: translation, model: models[endpoint.address][model.kind] };
    const translating = function* () {
      return yield* translate(name, yield* createScanner().scanInParts(text), seals, target);
    };
    const { pieces, answer } = await runCooperatively(translating());
    return { upstream, dialect: common, url, pieces, answer };
  };
}
