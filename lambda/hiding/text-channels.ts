import type { Scrubber, ScrubChannel } from './scrub.ts';

/** The last text of a family that is over. */
interface Ending {
  readonly channel: string;
  readonly tail: string;
  /** Whether it breaks off where a name may begin. */
  readonly isOpen: boolean;
}

/** Channels whose texts a client may join, so that a name which begins in one and ends in the next must not come together. */
interface Family {
  last: Ending | undefined;
  /** Notes that a name was hidden in one of them. */
  readonly noteChange: () => void;
}

interface OpenText {
  readonly family: Family;
  readonly text: ScrubChannel;
  /** What was last when this text began. */
  readonly follows: Ending | undefined;
  isEmpty: boolean;
}

/** Something of each text is kept until the end of the stream. */
const mostTexts = 20_000;

export type TextChannels = ReturnType<typeof createTextChannels>;

/** The generated texts of one answer: those still coming in pieces, and what each of them follows. */
export function createTextChannels(scrubber: Scrubber) {
  const open = createChannelMap<OpenText>();
  const families = new Map<string, Family>();
  const changed = new Set<string>(); // the families in which a name was hidden
  const befores = new Map<string, string>(); // by channel: the tail that it followed on

  function familyNamed(name: string): Family {
    const family = families.get(name) ?? { last: undefined, noteChange: () => changed.add(name) };
    families.set(name, family);
    return family;
  }

  function start(channel: string, family: Family): OpenText {
    const { last } = family;
    const before = beforeOf(family);
    if (!befores.has(channel)) befores.set(channel, before);
    if (befores.size > mostTexts) throw new RangeError(`more than ${mostTexts} texts in one stream`);
    const continues = last?.channel === channel;
    const text = continues ? scrubber.openChannel(last.tail, true) : scrubber.openChannel(before);
    const begun = { family, text, follows: last, isEmpty: true };
    open.set(channel, begun);
    return begun;
  }

  return {
    /** Adds a piece to a channel, which may begin with it; returns what may leave. */
    push(channel: string, familyName: string, piece: string): string {
      let current = open.get(channel);
      if (current === undefined || isInterrupted(current)) current = start(channel, familyNamed(familyName));
      if (piece !== '') current.isEmpty = false;
      const shown = current.text.push(piece);
      if (current.text.isChanged) current.family.noteChange();
      return shown;
    },
    isHolding: (channel: string): boolean => (open.get(channel)?.text.held ?? '') !== '',
    /** Ends a channel; returns what it held back. */
    close(channel: string): string {
      const closing = open.get(channel);
      if (!closing) return '';
      open.delete(channel);
      return end(channel, closing.family, closing.text, closing.isEmpty);
    },
    /** A whole text, hidden exactly as its pieces were or would be. */
    whole(channel: string, familyName: string, given: string): string {
      const family = familyNamed(familyName);
      const before = befores.get(channel) ?? beforeOf(family);
      befores.set(channel, before);
      const text = scrubber.openChannel(before);
      return text.push(given) + end(channel, family, text, given === '');
    },
    under: open.under,
    /** Whether a name was hidden in any text but those of this family. */
    isChangedBut: (name: string): boolean => changed.size > (changed.has(name) ? 1 : 0),
  };
}

/** The next text needs the last one's tail only if that breaks off inside a name. Otherwise each stands alone. */
const beforeOf = ({ last }: Family): string => (last?.isOpen ? last.tail : '');

/** Whether a text that may go on here has ended in another channel since this one began. */
function isInterrupted({ family, text, follows }: OpenText): boolean {
  return family.last !== follows && family.last?.isOpen === true && text.held === '';
}

/** Ends a text. An empty one changes nothing: a name may be split around it. */
function end(channel: string, family: Family, text: ScrubChannel, isEmpty: boolean): string {
  const isOpen = text.held !== '';
  const rest = text.end();
  if (text.isChanged) family.noteChange();
  if (!isEmpty) family.last = { channel, tail: text.tail, isOpen };
  return rest;
}

/**
 * Values by channel. The name of a channel is steps with slashes between them: `0/content/1`. The channels of a prefix are found
 * without searching all of them: a stream may have very many.
 */
export function createChannelMap<T>() {
  const values = new Map<string, T>();
  const channels = new Map<string, Set<string>>(); // by prefix; a channel is one of its own prefixes
  return {
    get: (channel: string): T | undefined => values.get(channel),
    set(channel: string, value: T): void {
      if (!values.has(channel)) {
        for (const prefix of prefixesOf(channel)) {
          const same = channels.get(prefix);
          if (same) same.add(channel);
          else channels.set(prefix, new Set([channel]));
        }
      }
      values.set(channel, value);
    },
    delete(channel: string): void {
      if (!values.delete(channel)) return;
      for (const prefix of prefixesOf(channel)) {
        const same = channels.get(prefix);
        if (same?.delete(channel) && same.size === 0) channels.delete(prefix);
      }
    },
    /** The channels with any of these prefixes (see `prefixesOf`), in the order in which they were added. */
    under(prefixes: readonly string[]): readonly string[] {
      const under = (prefix: string): readonly string[] => [...(channels.get(prefix) ?? [])];
      return prefixes.length > 1 ? [...new Set(prefixes)].flatMap(under) : prefixes.flatMap(under);
    },
  };
}

const deepest = 4;

/** The prefixes that include a channel: the empty one, its first one to four steps with their slashes, and its whole name. */
export function prefixesOf(channel: string): readonly string[] {
  const prefixes = ['', channel];
  for (let depth = 0, at = channel.indexOf('/'); depth < deepest && at >= 0; depth++) {
    prefixes.push(channel.slice(0, at + 1));
    at = channel.indexOf('/', at + 1);
  }
  return prefixes;
}
