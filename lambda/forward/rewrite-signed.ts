import type { AnswerFormat } from '../dialects/dialect.ts';
import { createAnswerChanges } from '../dialects/model/answer-changes.ts';
import { createSeals, type Sealing, voidContent } from '../dialects/model/seal.ts';
import { type Rewriting, rewriteAnswer } from '../stream/rewrite-answer.ts';
import { createStreamRewriter } from '../stream/rewrite-stream.ts';
import type { RewriteText } from './rewrite.ts';
import type { CreateSigned } from './stream.ts';

/** Shows reasoning whose signatures the upstream checks when it comes back. Signatures that it would refuse are replaced by seals. */
function showSigned({ dialect, expected }: AnswerFormat, hiding: Rewriting, { salt, caller }: Sealing) {
  const seals = createSeals(salt, caller);
  const voiding = { changes: createAnswerChanges(), seal: () => seals.seal(dialect.name, voidContent) };
  return [
    { dialect, expected: { ...expected, signedReasoning: 'shown' } as const },
    { ...hiding, voiding },
  ] as const;
}

export const rewriteSigned: RewriteText = (json, format, hiding, usage, { signing }) => {
  if (!signing) throw new TypeError('this answer is not signed');
  return rewriteAnswer(json, ...showSigned(format, hiding, signing), usage);
};

export const createSigned: CreateSigned = ({ request, record, hiding }, signing) =>
  createStreamRewriter(...showSigned(request.parsed, hiding, signing), record.usage);
