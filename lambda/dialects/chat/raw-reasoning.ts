import { elements } from '../../json/read.ts';
import type { RawReasoning } from '../model/answer/answer-reader.ts';
import { toSealedText } from '../model/seal.ts';
import { type FindTexts, messageOf } from './find-texts.ts';

/**
 * Collects reasoning as an upstream of chat sent it. `findTexts` has to see each event here first: once text is held back, two members
 * with the same text may leave in different events, and would no longer look like duplicates.
 */
export function createRawReasoning(findTexts: FindTexts): RawReasoning {
  let channels: readonly string[] = []; // of the reasoning in the last event
  let collected = '';
  return {
    onRead(json, texts) {
      const [choice] = elements(json, json.member(json.root, 'choices'));
      const found = choice === undefined ? [] : findTexts(json, choice, messageOf(json, choice));
      const reasoning = found.filter(({ kind }) => kind === 'reasoning').map(({ node }) => node);
      channels = texts.filter(({ value }) => reasoning.includes(value)).map(({ channel }) => channel);
    },
    onText(text, channel) {
      if (channels.includes(channel)) collected += text;
    },
    take() {
      const literal = JSON.stringify(toSealedText(collected));
      collected = '';
      return literal;
    },
  };
}
