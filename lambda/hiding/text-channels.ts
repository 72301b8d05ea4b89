import type { Scrubber, ScrubChannel } from './scrub.ts';

/** The last finished text of a family. */
interface Ending {
  readonly channel: string;
  readonly tail: string;
  /** Whether it ends in what may be the start of a name. */
  readonly isOpen: boolean;
}

/** Channels whose texts a client may join: a name that begins in one and ends in the next must not come together. */
interface Family {
  last: Ending | undefined;
  /** Records that a name was hidden in one of them. */
  readonly noteChange: () => void;
}

interface OpenText {
  readonly family: Family;
  readonly text: ScrubChannel;
  /** The family's last text when this one began. */
  readonly follows: Ending | undefined;
  isEmpty: boolean;
}

/** Each text takes some memory until the end of the stream. */
const mostTexts = 20_000;

export type TextChannels = ReturnType<typeof createTextChannels>;

/** The generated texts of one answer, hidden in deltas, and across texts that a client may join. */
export function createTextChannels(scrubber: Scrubber) {
  const open = createChannelMap<OpenText>();
  const families = new Map<string, Family>();
  const changed = new Set<string>(); // the families in which a name was hidden
  const befores = new Map<string, string>(); // by channel: the tail of the text before it

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
    /** Adds a delta to a channel, which opens it if needed. Returns the text that can go out. */
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
    /** Scrubs a whole text, exactly as its deltas were or would be. */
    whole(channel: string, familyName: string, given: string): string {
      const family = familyNamed(familyName);
      const before = befores.get(channel) ?? beforeOf(family);
      befores.set(channel, before);
      const text = scrubber.openChannel(before);
      return text.push(given) + end(channel, family, text, given === '');
    },
    under: open.under,
    /** Whether a name was hidden in any other family. */
    isChangedBut: (name: string): boolean => changed.size > (changed.has(name) ? 1 : 0),
  };
}

/** The next text needs the last one's tail only if that ends in what may be the start of a name. */
const beforeOf = ({ last }: Family): string => (last?.isOpen ? last.tail : '');

/** Whether another text of the family, which this one may continue, has ended since this one began. */
function isInterrupted({ family, text, follows }: OpenText): boolean {
  return family.last !== follows && family.last?.isOpen === true && text.held === '';
}

/** Ends a text. An empty one does not become the family's last text: a name may be split around it. */
function end(channel: string, family: Family, text: ScrubChannel, isEmpty: boolean): string {
  const isOpen = text.held !== '';
  const rest = text.end();
  if (text.isChanged) family.noteChange();
  if (!isEmpty) family.last = { channel, tail: text.tail, isOpen };
  return rest;
}

/**
 * A map of channels. A channel's name is a path such as `0/content/1`. Indexed by prefix, because a stream may have very many channels.
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
    /** The channels with any of these prefixes (see `prefixesOf`), in insertion order. */
    under(prefixes: readonly string[]): readonly string[] {
      const under = (prefix: string): readonly string[] => [...(channels.get(prefix) ?? [])];
      return prefixes.length > 1 ? [...new Set(prefixes)].flatMap(under) : prefixes.flatMap(under);
    },
  };
}

const deepest = 4;

/** The prefixes of a channel: the empty one, its first one to four steps with their slashes, and the whole name. */
export function prefixesOf(channel: string): readonly string[] {
  const prefixes = ['', channel];
  for (let depth = 0, at = channel.indexOf('/'); depth < deepest && at >= 0; depth++) {
    prefixes.push(channel.slice(0, at + 1));
    at = channel.indexOf('/', at + 1);
  }
  return prefixes;
}
