import { createAnswerChanges } from '../dialects/answer-changes.ts';
import { rewriteAnswer } from '../stream/hide.ts';
import { createSeals, voidContent } from '../translate/seal.ts';
import type { RewriteText } from './rewrite.ts';
import type { CreateVoiding } from './stream.ts';

/** Seals in place of signatures that the upstream would refuse. */
export const createVoiding: CreateVoiding = (dialect, { salt, caller }) => {
  const seals = createSeals(salt, caller);
  return { changes: createAnswerChanges(), seal: () => seals.seal(dialect, voidContent) };
};

/** Rewrites a whole answer with thoughts that their maker checks when they come back. */
export const rewriteSigned: RewriteText = (json, { dialect, expected }, hiding, usage, { signing }) => {
  if (!signing) throw new TypeError('this answer is not signed');
  const format = { dialect, expected: { ...expected, signedThoughts: 'shown' } as const };
  return rewriteAnswer(json, format, { ...hiding, voiding: createVoiding(dialect.name, signing) }, usage);
};
