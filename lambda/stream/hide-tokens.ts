import { type Edit, replaceValue } from '../json/edit.ts';
import type { Json, Node } from '../json/scan.ts';
import { quote } from '../json/tokens.ts';
import type { TokenMark } from './marks.ts';
import type { Scrubber } from './scrub.ts';
import type { Texts } from './texts.ts';

/** Replaces token probabilities by null if their tokens, alone or joined, spell a name: a token's `bytes` spell it in numbers. */
export function hideTokens(json: Json, mark: TokenMark, texts: Texts, scrubber: Scrubber, edits: Edit[]): void {
  const { channel, value, isWhole } = mark;
  if (json.next(value) === value + 1) return; // none
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

/** The chosen tokens, joined: from a list of `{token}`, or from the list of `tokens` of the older form. */
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
