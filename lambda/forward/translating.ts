/* Everything that translates between dialects. It is large and rarely needed, so it alone of the code for requests is loaded lazily. */

export { removeSeals } from '../dialects/model/remove-seals.ts';
export { openAnswer, translate } from '../dialects/translation.ts';
export { createSigned, rewriteSigned } from './rewrite-signed.ts';
export { createTranslator, rewriteAndTranslate } from './rewrite-translated.ts';
