/* Everything that translates between dialects. Few deployments need it, and it is big, so it alone on a request's path is loaded lazily. */

export { removeSeals } from '../dialects/model/remove-seals.ts';
export { openAnswer, translate } from '../dialects/translation.ts';
export { createSigned, rewriteSigned } from './rewrite-signed.ts';
export { createTranslator, rewriteAndTranslate } from './rewrite-translated.ts';
