import type { AnswerFormat } from '../dialects/dialect.ts';
import { afterPrefix } from '../dialects/model/envelope.ts';
import {
  createFindings,
  type Findings,
  type FoundLogprobs,
  type FoundText,
  type TextPlace,
  type Usage,
} from '../dialects/model/findings.ts';
import { applyEdits, changeMembers, type Edit, replaceValue } from '../json/edit.ts';
import type { Json, Node } from '../json/scan.ts';
import { quote } from '../json/tokens.ts';
import { UpstreamFailure } from '../upstream/failure.ts';
import type { Scrubber } from './scrub.ts';
import { createTextChannels, type TextChannels } from './text-channels.ts';
import { createVoidSignatures, noteChanges, thoughts, type Voiding } from './void-thoughts.ts';

/** Which names are hidden, and what replaces them. */
export interface Hiding {
  readonly scrubber: Scrubber;
  /** Whether names stay in what is certainly the model's own. */
  readonly showsGenerated: boolean;
  /** The public id of the model that was asked for. */
  readonly publicModel: string;
  /** Turns an upstream's error message into what a client may read. */
  explain(message: string): string | undefined;
  /** Present where the upstream signs its thoughts over the answer before them. */
  readonly voiding?: Voiding | undefined;
  /** Called with each answer or event that is read, and the texts found in it. An event like the one before is not read. */
  readonly onRead?: (json: Json, texts: readonly FoundText[]) => void;
  /** Called with each piece of generated text as the upstream sent it, but not with the wholes that a stream repeats. */
  readonly onText?: (text: string, channel: string) => void;
  /** The same for what else the model wrote: a call's arguments, and signed thinking. */
  readonly onProgram?: (text: string) => void;
}

/** Whether a text leaves as the upstream sent it. */
export const passes = ({ isGenerated }: TextPlace, { showsGenerated }: Hiding): boolean =>
  isGenerated && showsGenerated;

/** Rewrites a whole answer. Throws if it is not a JSON object, and the failure that it reports. */
export function rewriteAnswer(json: Json, { dialect, expected }: AnswerFormat, hiding: Hiding, usage: Usage): string {
  if (json.kind(json.root) !== 'object') throw new TypeError('the answer is not a JSON object');
  const found = createFindings(usage);
  dialect.readAnswer(json, found, expected);
  if (found.failure) throw new UpstreamFailure('reported', { message: hiding.explain(found.failure.message) });
  const edits = hideMetadata(json, found, hiding);
  const { voiding } = hiding;
  if (voiding) noteChanges(json, found, edits, voiding, itsPlace);
  /** Shows a text of the answer's content. */
  const show = (one: FoundText, given: string, shown: string) => {
    hideText(json, one, given, shown, edits);
    if (shown !== given && one.family !== thoughts) voiding?.changes.note(json.start(one.value));
  };
  const texts = createTextChannels(hiding.scrubber);
  hiding.onRead?.(json, found.wholeTexts);
  const families = Map.groupBy(found.wholeTexts, ({ family }) => family);
  for (const one of found.wholeTexts) {
    const given = json.string(one.value);
    hiding.onText?.(given, one.channel);
    if (passes(one, hiding)) continue;
    // Most texts stand alone, and need nothing of what looks for names across texts.
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
  tellPrograms(json, found, hiding, false);
  if (voiding) edits.push(...createVoidSignatures(voiding)(json, found, itsPlace));
  return applyEdits(json.text, edits);
}

const itsPlace = (at: number): number => at;

/** In a stream, wholes repeat what came in pieces. */
export function tellPrograms(json: Json, { programs }: Findings, { onProgram }: Hiding, isStream: boolean): void {
  if (!onProgram) return;
  for (const { value, isWhole } of programs) {
    if (!isStream || !isWhole) onProgram(json.kind(value) === 'string' ? json.string(value) : json.raw(value));
  }
}

/** The edits for everything marked except generated text, and for names in all other strings and keys. */
export function hideMetadata(json: Json, found: Findings, hiding: Hiding): Edit[] {
  const { scrubber, publicModel, explain } = hiding;
  const edits: Edit[] = [];
  const model = JSON.stringify(publicModel);
  for (const node of found.models) edits.push(replaceValue(json, node, model));
  const begin = json.start(json.root) + 1;
  if (found.lacksModel) edits.push({ start: begin, end: begin, text: `"model":${model},` });
  for (const { value, prefix } of found.ids) {
    // A name may begin with the vendor's prefix. Right after a prefix, a short one would count as a part of a word.
    const rest = afterPrefix(scrubber.scrub(json.string(value)), prefix);
    edits.push(replaceValue(json, value, JSON.stringify(prefix + scrubber.scrub(rest))));
  }
  for (const node of found.errorMessages) {
    edits.push(replaceValue(json, node, JSON.stringify(explain(json.string(node)) ?? '')));
  }
  dropMembers(json, found, edits);
  // A name in a string without escapes can be found in the raw text.
  const shown = hiding.showsGenerated ? found.logprobs : [];
  const handled = shown.length === 0 ? found.handled : found.handled.concat(shown.map(({ value }) => value));
  const named = isNamedOutside(json, handled, scrubber);
  if (named || json.text.includes('\\')) replaceNames(json, handled, named, scrubber, edits);
  return edits;
}

/** Replaces a generated text by `text`. If that is different, its token probabilities become null. */
export function hideText(json: Json, { value, logprobs }: FoundText, given: string, text: string, edits: Edit[]): void {
  if (text === given) return;
  edits.push(replaceValue(json, value, JSON.stringify(text)));
  const some = logprobs !== undefined && json.next(logprobs) > logprobs + 1;
  if (some) edits.push(replaceValue(json, logprobs, 'null'));
}

function dropMembers(json: Json, { drops }: Findings, edits: Edit[]): void {
  const keys = new Map<Node, Set<Node>>(); // by object
  for (const { object, key } of drops) {
    const drop = keys.get(object);
    if (drop) drop.add(key);
    else keys.set(object, new Set([key]));
  }
  for (const [object, drop] of keys) {
    for (const edit of changeMembers(json, object, { drop })) edits.push(edit);
  }
}

/** Whether a name stands in the text outside the handled nodes, such as the model, where one nearly always does. */
function isNamedOutside(json: Json, handled: readonly Node[], scrubber: Scrubber): boolean {
  const find = (from: number) => scrubber.find(json.text, from)?.start ?? -1;
  let at = find(0);
  if (at < 0) return false;
  // In the order of the text, so that one pass over them serves all names.
  for (const node of handled.toSorted((a, b) => a - b)) {
    const end = json.end(node);
    if (end <= at) continue;
    if (at < json.start(node)) return true;
    at = find(end);
    if (at < 0) return false;
  }
  return true;
}

/** Base64 of images and sound, where a name would be mere chance: under `b64_json` or `image_b64`, and in `data:image/png;base64,…`. */
const mediaKey = /^b64(_json)?$|_b64$/;
const mediaHead = /^data:[\w.+-]+\/[\w.+-]+(;[\w.=+-]+)*;base64,/;
const longestHead = 256;
const notBase64 = /[^\w+/=-]/;

/** Where the bytes of a data URL begin; in another text, its end. */
function bytesIn(text: string): number {
  const [head] = mediaHead.exec(text.slice(0, longestHead)) ?? [];
  return head !== undefined && !notBase64.test(text.slice(head.length)) ? head.length : text.length;
}

function isMedia(json: Json, value: Node, text: string): boolean {
  return json.isKey(value - 1) && mediaKey.test(json.string(value - 1)) && !notBase64.test(text);
}

/** As many as there may be findings; each takes more memory than what it replaces. */
const mostEdits = 100_000;

/** In strings outside the handled nodes; unless `named`, only escapes may spell a name. */
function replaceNames(
  json: Json,
  handledNodes: readonly Node[],
  named: boolean,
  scrubber: Scrubber,
  edits: Edit[],
): void {
  const handled = new Set(handledNodes);
  for (let node = 0; node < json.size; node += 1) {
    if (handled.has(node)) node = json.next(node) - 1;
    else if ((named || json.isEscaped(node)) && json.text.charCodeAt(json.start(node)) === quote) {
      const text = json.string(node);
      if (!scrubber.find(text) || isMedia(json, node, text)) continue;
      const at = bytesIn(text);
      const hidden = scrubber.scrub(text.slice(0, at)) + text.slice(at);
      if (hidden !== text) edits.push(replaceValue(json, node, JSON.stringify(hidden)));
      if (edits.length > mostEdits) throw new RangeError(`more than ${mostEdits} things to hide at a time`);
    }
  }
}

/** Replaces token probabilities by null if their tokens, alone or joined, spell a name: a token's `bytes` spell it in numbers. */
export function hideLogprobs(
  json: Json,
  { logprobs }: Findings,
  texts: TextChannels,
  { scrubber, showsGenerated }: Hiding,
  edits: Edit[],
): void {
  if (showsGenerated) return; // as they spell nothing else
  for (const one of logprobs) hideProbabilities(json, one, texts, scrubber, edits);
}

function hideProbabilities(
  json: Json,
  { channel, value, isWhole }: FoundLogprobs,
  texts: TextChannels,
  scrubber: Scrubber,
  edits: Edit[],
): void {
  if (json.next(value) === value + 1) return; // none
  const joined = tokensIn(json, value);
  const shown = isWhole ? texts.whole(channel, channel, joined) : texts.push(channel, channel, joined);
  if (shown !== joined || isNamedIn(json, value, scrubber)) edits.push(replaceValue(json, value, 'null'));
}

function isNamedIn(json: Json, value: Node, scrubber: Scrubber): boolean {
  for (let node = value, end = json.next(value); node < end; node += 1) {
    if (json.text.charCodeAt(json.start(node)) === quote && scrubber.find(json.string(node))) return true;
  }
  return false;
}

/** The chosen tokens, joined: from a list of `{token}`, or from the list of `tokens` of the older form. */
function tokensIn(json: Json, logprobs: Node): string {
  let joined = '';
  let tokensEnd = logprobs;
  for (let node = logprobs, end = json.next(logprobs); node < end; node += 1) {
    if (json.isKey(node)) {
      const name = json.string(node);
      if (name === 'top_logprobs') node = json.next(node + 1) - 1;
      else if (name === 'token' || name === 'tokens') tokensEnd = json.next(node + 1);
    } else if (node < tokensEnd && json.kind(node) === 'string') joined += json.string(node);
  }
  return joined;
}
