import type { AnswerFormat } from '../dialects/dialect.ts';
import { createFindings, type Findings, type FoundText, type Usage } from '../dialects/model/findings.ts';
import { type Hiding, hideLogprobs, hideMetadata, hideText, passes } from '../hiding/hide.ts';
import { createTextChannels } from '../hiding/text-channels.ts';
import { applyEdits } from '../json/edit.ts';
import type { Json } from '../json/scan.ts';
import { UpstreamFailure } from '../upstream/failure.ts';
import { createVoidSignatures, noteChanges, signedFamily, type Voiding } from './void-reasoning.ts';

/** What to hide in an answer, and callbacks for what the upstream sent. */
export interface Rewriting extends Hiding {
  /** Present if the upstream signs its reasoning over the part of the answer before it. */
  readonly voiding?: Voiding | undefined;
  /** Called with each answer or event that is parsed, and the texts found in it; not for an event that matches the template. */
  readonly onRead?: (json: Json, texts: readonly FoundText[]) => void;
  /** Called with each piece of generated text as the upstream sent it; not with whole texts that a stream repeats at its end. */
  readonly onText?: (text: string, channel: string) => void;
  /** The same for what else the model wrote: tool arguments, and signed thinking. */
  readonly onToolArguments?: (text: string) => void;
}

/** Rewrites a whole answer. Throws if it is not a JSON object, or if it reports a failure. */
export function rewriteAnswer(
  json: Json,
  { dialect, expected }: AnswerFormat,
  hiding: Rewriting,
  usage: Usage,
): string {
  if (json.kind(json.root) !== 'object') throw new TypeError('the answer is not a JSON object');
  const found = createFindings(usage);
  dialect.readAnswer(json, found, expected);
  if (found.failure) throw new UpstreamFailure('reported', { message: hiding.explain(found.failure.message) });
  const edits = hideMetadata(json, found, hiding);
  const { voiding } = hiding;
  if (voiding) noteChanges(json, found, edits, voiding, ownPlace);
  /** Replaces a text, and notes a change that voids later signatures. */
  const show = (one: FoundText, given: string, shown: string) => {
    hideText(json, one, given, shown, edits);
    if (shown !== given && one.family !== signedFamily) voiding?.changes.note(json.start(one.value));
  };
  const texts = createTextChannels(hiding.scrubber);
  hiding.onRead?.(json, found.wholeTexts);
  const families = Map.groupBy(found.wholeTexts, ({ family }) => family);
  for (const one of found.wholeTexts) {
    const given = json.string(one.value);
    hiding.onText?.(given, one.channel);
    if (passes(one, hiding)) continue;
    // Most texts stand alone, and don't need the search across texts.
    const isAlone = families.get(one.family)?.length === 1;
    const shown = isAlone ? hiding.scrubber.scrub(given) : texts.whole(one.channel, one.family, given);
    show(one, given, shown);
  }
  for (const [index, one] of found.deltas.entries()) {
    const given = json.string(one.value);
    hiding.onText?.(given, one.channel);
    if (passes(one, hiding)) continue;
    const isLast = found.deltas[index + 1]?.channel !== one.channel;
    const shown = texts.push(one.channel, one.family, given);
    show(one, given, isLast ? shown + texts.close(one.channel) : shown);
  }
  hideLogprobs(json, found, texts, hiding, edits);
  reportToolArguments(json, found, hiding, false);
  if (voiding) edits.push(...createVoidSignatures(voiding)(json, found, ownPlace));
  return applyEdits(json.text, edits);
}

const ownPlace = (at: number): number => at;

/** A stream repeats at its end, whole, the arguments that came in deltas: those are not reported twice. */
export function reportToolArguments(
  json: Json,
  { allToolArguments }: Findings,
  { onToolArguments }: Rewriting,
  isStream: boolean,
): void {
  if (!onToolArguments) return;
  for (const { value, isWhole } of allToolArguments) {
    if (!isStream || !isWhole) onToolArguments(json.kind(value) === 'string' ? json.string(value) : json.raw(value));
  }
}
