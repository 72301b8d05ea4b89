import type { Json, Node } from '../../json/scan.ts';
import type { Literal } from './facts.ts';
import { thoughtsIn } from './read-chat.ts';

/**
 * What the model thought, as the upstream sent it. The thoughts that a client reads have been hidden; what it sends back in a seal
 * must be the upstream's own words, or the model would not know them again.
 */
export interface RawThoughts {
  /** Hears of an answer or event, and of the texts in it. */
  onRead(json: Json, texts: readonly { readonly channel: string; readonly value: Node }[]): void;
  /** Hears a text. */
  onText(text: string, channel: string): void;
  /** What has been thought since this was last called. */
  take(): Literal;
}

export function createRawThoughts(): RawThoughts {
  let channels: readonly string[] = []; // of the thoughts in the last event that was read
  let heard = '';
  return {
    onRead(json, texts) {
      const thoughts = thoughtsIn(json);
      channels = texts.filter(({ value }) => thoughts.includes(value)).map(({ channel }) => channel);
    },
    onText(text, channel) {
      if (channels.includes(channel)) heard += text;
    },
    take() {
      const literal = JSON.stringify(heard);
      heard = '';
      return literal;
    },
  };
}
