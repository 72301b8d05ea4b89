import { elements } from '../../json/read.ts';
import type { RawReasoning } from '../model/answer/answer-reader.ts';
import { toSealedText } from '../model/seal.ts';
import { type FindTexts, messageOf } from './find-texts.ts';

/**
 * Thoughts as an upstream of chat sent them. `findTexts` sees each event here first: later, of two texts that are the same and that
 * are held back, each leaves by itself.
 */
export function createRawReasoning(findTexts: FindTexts): RawReasoning {
  let channels: readonly string[] = []; // of the thoughts in the last event that was read
  let heard = '';
  return {
    onRead(json, texts) {
      const [choice] = elements(json, json.member(json.root, 'choices'));
      const found = choice === undefined ? [] : findTexts(json, choice, messageOf(json, choice));
      const reasoning = found.filter(({ kind }) => kind === 'reasoning').map(({ node }) => node);
      channels = texts.filter(({ value }) => reasoning.includes(value)).map(({ channel }) => channel);
    },
    onText(text, channel) {
      if (channels.includes(channel)) heard += text;
    },
    take() {
      const literal = JSON.stringify(toSealedText(heard));
      heard = '';
      return literal;
    },
  };
}
