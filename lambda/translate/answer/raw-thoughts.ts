import type { Json, Node } from '../../json/scan.ts';
import type { Literal } from './facts.ts';
import { thoughtsIn } from './read-chat.ts';

/**
 * What the model thought, as the upstream sent it. The thoughts that a client reads have been hidden; what it sends back in a seal
 * must be the upstream's own words, or the model would not know them again.
 */
export function createRawThoughts() {
  let channels: readonly string[] = []; // of the thoughts in the last event that was read
  let heard = '';
  return {
    /** Hears of an answer or event, and of the texts in it. */
    onRead(json: Json, texts: readonly { readonly channel: string; readonly value: Node }[]): void {
      const thoughts = thoughtsIn(json);
      channels = texts.filter(({ value }) => thoughts.includes(value)).map(({ channel }) => channel);
    },
    /** Hears a text. */
    onText(text: string, channel: string): void {
      if (channels.includes(channel)) heard += text;
    },
    /** What has been thought since this was last called. */
    take(): Literal {
      const literal = JSON.stringify(heard);
      heard = '';
      return literal;
    },
  };
}
