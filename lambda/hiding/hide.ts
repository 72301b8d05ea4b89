import { afterPrefix } from '../dialects/model/envelope.ts';
import type { Findings, FoundLogprobs, FoundText, TextPlace } from '../dialects/model/findings.ts';
import { changeMembers, type Edit, replaceValue } from '../json/edit.ts';
import type { Json, Node } from '../json/scan.ts';
import { quote } from '../json/tokens.ts';
import type { Scrubber } from './scrub.ts';
import type { TextChannels } from './text-channels.ts';

/** What to hide in an answer. */
export interface Hiding {
  readonly scrubber: Scrubber;
  /** Whether names stay in text that the model certainly generated. */
  readonly showsGenerated: boolean;
  /** The public id of the requested model. */
  readonly publicModel: string;
  /** Turns an upstream's error message into what a client may read. */
  explain(message: string): string | undefined;
}

/** Whether a text passes through unchanged. */
export const passes = ({ isGenerated }: TextPlace, { showsGenerated }: Hiding): boolean =>
  isGenerated && showsGenerated;

/** The edits for everything found except generated text, and for names in all other strings and keys. */
export function hideMetadata(json: Json, found: Findings, hiding: Hiding): Edit[] {
  const { scrubber, publicModel, explain } = hiding;
  const edits: Edit[] = [];
  const model = JSON.stringify(publicModel);
  for (const node of found.models) edits.push(replaceValue(json, node, model));
  const begin = json.start(json.root) + 1;
  if (found.lacksModel) edits.push({ start: begin, end: begin, text: `"model":${model},` });
  for (const { value, prefix } of found.ids) {
    // Scrubbed twice: a name may begin with the vendor's prefix, and right after a prefix a short name would count as part of a word.
    const rest = afterPrefix(scrubber.scrub(json.string(value)), prefix);
    edits.push(replaceValue(json, value, JSON.stringify(prefix + scrubber.scrub(rest))));
  }
  for (const node of found.errorMessages) {
    edits.push(replaceValue(json, node, JSON.stringify(explain(json.string(node)) ?? '')));
  }
  dropMembers(json, found, edits);
  // In strings without escapes, names can be found in the raw text.
  const shown = hiding.showsGenerated ? found.logprobs : [];
  const handled = shown.length === 0 ? found.handled : found.handled.concat(shown.map(({ value }) => value));
  const named = isNamedOutside(json, handled, scrubber);
  if (named || json.text.includes('\\')) replaceNames(json, handled, named, scrubber, edits);
  return edits;
}

/** Replaces a generated text by `text`. If that changes it, its token probabilities become null. */
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

/** Whether there is a name outside the handled nodes. Inside them, as in the model's id, there nearly always is. */
function isNamedOutside(json: Json, handled: readonly Node[], scrubber: Scrubber): boolean {
  const find = (from: number) => scrubber.find(json.text, from)?.start ?? -1;
  let at = find(0);
  if (at < 0) return false;
  // In text order, so that a single pass suffices.
  for (const node of handled.toSorted((a, b) => a - b)) {
    const end = json.end(node);
    if (end <= at) continue;
    if (at < json.start(node)) return true;
    at = find(end);
    if (at < 0) return false;
  }
  return true;
}

/** Base64 of images and audio, where a match would be pure chance: under `b64_json` or `image_b64`, and in `data:image/png;base64,…`. */
const mediaKey = /^b64(_json)?$|_b64$/;
const mediaHead = /^data:[\w.+-]+\/[\w.+-]+(;[\w.=+-]+)*;base64,/;
const longestHead = 256;
const notBase64 = /[^\w+/=-]/;

/** Where the base64 of a data URL begins; for any other text, its end. */
function bytesIn(text: string): number {
  const [head] = mediaHead.exec(text.slice(0, longestHead)) ?? [];
  return head !== undefined && !notBase64.test(text.slice(head.length)) ? head.length : text.length;
}

function isMedia(json: Json, value: Node, text: string): boolean {
  return json.isKey(value - 1) && mediaKey.test(json.string(value - 1)) && !notBase64.test(text);
}

/** The same as the limit on findings. Each edit takes more memory than the text that it replaces. */
const mostEdits = 100_000;

/** Replaces names in strings outside the handled nodes. Unless `named`, only escaped strings can hold one. */
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

/** Replaces token probabilities by null if their tokens, alone or joined, spell a name: each token's `bytes` would spell it too. */
export function hideLogprobs(
  json: Json,
  { logprobs }: Findings,
  texts: TextChannels,
  { scrubber, showsGenerated }: Hiding,
  edits: Edit[],
): void {
  if (showsGenerated) return; // they spell nothing but generated text
  for (const one of logprobs) hideProbabilities(json, one, texts, scrubber, edits);
}

function hideProbabilities(
  json: Json,
  { channel, value, isWhole }: FoundLogprobs,
  texts: TextChannels,
  scrubber: Scrubber,
  edits: Edit[],
): void {
  if (json.next(value) === value + 1) return; // empty
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

/** The chosen tokens, joined: from a list of `{token}`, or from the `tokens` list of the legacy format. */
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
