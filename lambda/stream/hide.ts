import { changeMembers, type Edit, replaceValue } from '../json/edit.ts';
import type { Json, Node } from '../json/scan.ts';
import type { MarkSheet, TextMark, TokenMark } from './marks.ts';
import type { Scrubber } from './scrub.ts';
import type { Texts } from './texts.ts';

/** Whose names are hidden, and what stands in their place. */
export interface Hiding {
  readonly scrubber: Scrubber;
  /** The public id of the model that was asked for. */
  readonly publicModel: string;
  /** What a client may read of a sentence in which the upstream says what went wrong. */
  explain(message: string): string | undefined;
}

/** The edits for all that was marked but generated text, and for names anywhere else in the strings and keys. */
export function hideFrame(json: Json, sheet: MarkSheet, { scrubber, publicModel, explain }: Hiding): Edit[] {
  const edits: Edit[] = [];
  for (const node of sheet.models) {
    if (json.kind(node) === 'string') edits.push(replaceValue(json, node, JSON.stringify(publicModel)));
  }
  for (const node of sheet.explanations) {
    edits.push(replaceValue(json, node, JSON.stringify(explain(json.string(node)) ?? '')));
  }
  dropMembers(json, sheet, edits);
  // A string without escapes stands in the text as it is.
  const named = standsOutside(json, sheet.settled, (from) => scrubber.find(json.text, from)?.start ?? -1);
  const escaped = standsOutside(json, sheet.settled, (from) => json.text.indexOf('\\', from));
  if (named || escaped) replaceNames(json, sheet.settled, scrubber, edits);
  return edits;
}

/** Puts `text` in the place of a generated text, and null in that of its token probabilities where it is another. */
export function hideText(json: Json, { value, logprobs }: TextMark, given: string, text: string, edits: Edit[]): void {
  if (text === given) return;
  edits.push(replaceValue(json, value, JSON.stringify(text)));
  if (logprobs !== undefined && !isEmpty(json, logprobs)) edits.push(replaceValue(json, logprobs, 'null'));
}

/** Puts null in the place of token probabilities that name someone, one by one or together: a token's bytes spell it in numbers. */
export function hideTokens(json: Json, mark: TokenMark, texts: Texts, { scrubber }: Hiding, edits: Edit[]): void {
  const { channel, value, isWhole } = mark;
  if (isEmpty(json, value)) return;
  const spelt = tokensIn(json, value);
  const shown = isWhole ? texts.whole(channel, channel, spelt) : texts.push(channel, channel, spelt);
  if (shown !== spelt || isNamedIn(json, value, scrubber)) edits.push(replaceValue(json, value, 'null'));
}

function isNamedIn(json: Json, value: Node, scrubber: Scrubber): boolean {
  for (let node = value; node < json.next(value); node += 1) {
    if (json.text.charCodeAt(json.start(node)) === quote && scrubber.find(json.string(node))) return true;
  }
  return false;
}

/** The tokens that were said, joined: `{token}` in a list, or the older form's list of `tokens`. */
function tokensIn(json: Json, logprobs: Node): string {
  let spelt = '';
  for (let node = logprobs; node < json.next(logprobs); node += 1) {
    if (!json.isKey(node)) continue;
    const name = json.string(node);
    const value = node + 1;
    if (name === 'token' && json.kind(value) === 'string') spelt += json.string(value);
    else if (name === 'top_logprobs') node = json.next(value) - 1;
    else if (name === 'tokens') {
      for (const token of json.elements(value)) if (json.kind(token) === 'string') spelt += json.string(token);
    }
  }
  return spelt;
}

function isEmpty(json: Json, value: Node): boolean {
  return json.next(value) === value + 1;
}

function dropMembers(json: Json, { drops }: MarkSheet, edits: Edit[]): void {
  for (const { object } of drops) {
    const drop = new Set(drops.filter((other) => other.object === object).map(({ key }) => key));
    edits.push(...changeMembers(json, object, { drop }));
  }
}

/** Whether what `find` finds, from an offset on and -1 for nothing, stands anywhere outside the settled nodes. */
function standsOutside(json: Json, settled: readonly Node[], find: (from: number) => number): boolean {
  for (let from = 0; ; ) {
    const at = find(from);
    if (at < 0) return false;
    const around = settled.find((node) => json.start(node) <= at && at < json.end(node));
    if (around === undefined) return true;
    from = json.end(around);
  }
}

/** Images and sound as base64, in which a name would stand by mere chance. */
const mediaKey = /b64/;
const mediaHead = /^data:[\w.+-]+\/[\w.+-]+(;[\w.=+-]+)*;base64,/;
const longestHead = 256;
const notBase64 = /[^\w+/=-]/;

function isMedia(text: string): boolean {
  const [head] = mediaHead.exec(text.slice(0, longestHead)) ?? [];
  return head !== undefined && !notBase64.test(text.slice(head.length));
}

function replaceNames(json: Json, settledNodes: readonly Node[], scrubber: Scrubber, edits: Edit[]): void {
  const settled = new Set(settledNodes);
  for (let node = 0; node < json.size; ) {
    if (settled.has(node)) {
      node = json.next(node);
      continue;
    }
    if (json.text.charCodeAt(json.start(node)) === quote) {
      const text = json.string(node);
      const hidden = scrubber.scrub(text);
      if (hidden !== text && !isMedia(text)) edits.push(replaceValue(json, node, JSON.stringify(hidden)));
      if (json.isKey(node) && mediaKey.test(text)) node += 1;
    }
    node += 1;
  }
}

const quote = 0x22;
