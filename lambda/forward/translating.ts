/* All that translates from one dialect to another. Few deployments need it, and it is big: so it is the one part of a request's way that is loaded when it is needed. */

export { removeSeals } from '../dialects/model/remove-seals.ts';
export { openAnswer, translate } from '../dialects/translation.ts';
export { createSigned, rewriteSigned } from './rewrite-signed.ts';
export { createTranslator, rewriteAndTranslate } from './rewrite-translated.ts';
