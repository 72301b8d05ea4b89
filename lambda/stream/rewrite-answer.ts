import type { AnswerFormat } from '../dialects/dialect.ts';
import { type Cooperative, isLong } from '../json/cooperative.ts';
import { applyEdits } from '../json/edit.ts';
import { scanLenientlyInParts } from '../json/lenient.ts';
import type { Scanner } from '../json/scan.ts';
import { createFindings, type Usage } from './findings.ts';
import { type Hiding, hideLogprobs, hideMetadata, hideText } from './hide.ts';
import { createTextChannels } from './text-channels.ts';

/** A whole answer as the client may see it, or the upstream's error message. */
export type RewrittenAnswer = { readonly text: string } | { readonly failure: string };

/** Rewrites a whole answer. Throws if it is not a JSON object. */
export function* rewriteAnswer(
  text: string,
  { dialect, expected }: AnswerFormat,
  hiding: Hiding,
  scanner: Scanner,
  usage: Usage,
): Cooperative<RewrittenAnswer> {
  if (isLong(text)) yield;
  const json = yield* scanLenientlyInParts(scanner, text);
  if (isLong(text)) yield;
  if (json.kind(json.root) !== 'object') throw new TypeError('the answer is not a JSON object');
  const found = createFindings(usage);
  dialect.readAnswer(json, found.recorder, expected);
  if (found.failure) return { failure: found.failure.message };
  if (isLong(text)) yield;
  const edits = hideMetadata(json, found, hiding);
  const texts = createTextChannels(hiding.scrubber);
  hiding.onRead?.(json, found.wholeTexts);
  for (const one of found.wholeTexts) {
    const given = json.string(one.value);
    if (isLong(given)) yield;
    hiding.onText?.(given, one.channel);
    hideText(json, one, given, texts.whole(one.channel, one.family, given), edits);
  }
  for (const one of found.logprobs) hideLogprobs(json, one, texts, hiding.scrubber, edits);
  if (isLong(text)) yield;
  return { text: applyEdits(json.text, edits) };
}
