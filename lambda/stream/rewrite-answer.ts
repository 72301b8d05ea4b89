import type { Question } from '../dialects/dialect.ts';
import { type Cooperative, isLong } from '../json/cooperative.ts';
import { applyEdits } from '../json/edit.ts';
import { scanLenientlyInParts } from '../json/lenient.ts';
import type { Scanner } from '../json/scan.ts';
import { type Hiding, hideFrame, hideText, hideTokens } from './hide.ts';
import { createMarkSheet, type Usage } from './marks.ts';
import { createTexts } from './texts.ts';

/** A whole answer as the client may see it, or the upstream's error message. */
export type RewrittenAnswer = { readonly text: string } | { readonly failure: string };

/** Rewrites a whole answer. Throws if it is not a JSON object. */
export function* rewriteAnswer(
  text: string,
  { dialect, asked }: Question,
  hiding: Hiding,
  scanner: Scanner,
  usage: Usage,
): Cooperative<RewrittenAnswer> {
  if (isLong(text)) yield;
  const json = yield* scanLenientlyInParts(scanner, text);
  if (isLong(text)) yield;
  if (json.kind(json.root) !== 'object') throw new TypeError('the answer is not a JSON object');
  const sheet = createMarkSheet(usage);
  dialect.readAnswer(json, sheet.marks, asked);
  if (sheet.failure) return { failure: sheet.failure.message };
  if (isLong(text)) yield;
  const edits = hideFrame(json, sheet, hiding);
  const texts = createTexts(hiding.scrubber);
  for (const mark of sheet.wholes) {
    const given = json.string(mark.value);
    if (isLong(given)) yield;
    hideText(json, mark, given, texts.whole(mark.channel, mark.family, given), edits);
  }
  for (const mark of sheet.tokens) hideTokens(json, mark, texts, hiding.scrubber, edits);
  if (isLong(text)) yield;
  return { text: applyEdits(json.text, edits) };
}
