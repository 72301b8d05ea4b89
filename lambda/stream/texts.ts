import { createChannelMap } from './channel-map.ts';
import type { Scrubber, ScrubChannel } from './scrub.ts';

/** The generated texts of one answer: those still coming in pieces, and what each of them follows. */
export interface Texts {
  /** Adds a piece to a channel, which may begin with it; returns what may leave. */
  push(channel: string, family: string, piece: string): string;
  /** Whether a channel holds text back. */
  isHolding(channel: string): boolean;
  /** Ends a channel; returns what it held back. */
  close(channel: string): string;
  /** A whole text, hidden exactly as its pieces were or would be. */
  whole(channel: string, family: string, text: string): string;
  /** The open channels with this prefix. */
  under(prefix: string): readonly string[];
}

/** Something of each text is kept until the end of the stream. */
const mostTexts = 20_000;

export function createTexts(scrubber: Scrubber): Texts {
  const open = createChannelMap<{ readonly family: string; readonly text: ScrubChannel }>();
  // A client may join the texts of a family, so a name that begins in one and ends in the next must not come together.
  const tails = new Map<string, string>(); // by family: the end of the last text that is over
  const befores = new Map<string, string>(); // by channel: the tail that it followed on

  function start(channel: string, family: string): ScrubChannel {
    const before = tails.get(family) ?? '';
    befores.set(channel, before);
    if (befores.size > mostTexts) throw new RangeError(`more than ${mostTexts} texts in one stream`);
    const text = scrubber.openChannel(before);
    open.set(channel, { family, text });
    return text;
  }

  /** The next text needs this one's tail only if it breaks off inside a name. Otherwise each is judged alone. */
  function end(family: string, text: ScrubChannel): string {
    const isOpen = text.held !== '';
    const rest = text.end();
    tails.set(family, isOpen ? text.tail : '');
    return rest;
  }

  return {
    push: (channel, family, piece) => (open.get(channel)?.text ?? start(channel, family)).push(piece),
    isHolding: (channel) => (open.get(channel)?.text.held ?? '') !== '',
    close(channel) {
      const closing = open.get(channel);
      if (!closing) return '';
      const rest = end(closing.family, closing.text);
      open.delete(channel);
      return rest;
    },
    whole(channel, family, given) {
      const before = befores.get(channel) ?? tails.get(family) ?? '';
      befores.set(channel, before);
      const text = scrubber.openChannel(before);
      return text.push(given) + end(family, text);
    },
    under: open.under,
  };
}
