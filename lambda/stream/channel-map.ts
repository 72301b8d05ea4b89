/** Values by channel. The name of a channel is steps with slashes between them: `0/content/1`. */
export interface ChannelMap<T> {
  get(channel: string): T | undefined;
  set(channel: string, value: T): void;
  delete(channel: string): void;
  /** The channels with this prefix (see `prefixesOf`), in the order in which they were added. */
  under(prefix: string): readonly string[];
}

/** Finds the channels of a prefix without searching all of them: a stream may have very many. */
export function createChannelMap<T>(): ChannelMap<T> {
  const values = new Map<string, T>();
  const channels = new Map<string, Set<string>>(); // by prefix
  return {
    get: (channel) => values.get(channel),
    set(channel, value) {
      if (!values.has(channel)) {
        for (const prefix of prefixesOf(channel)) {
          const same = channels.get(prefix);
          if (same) same.add(channel);
          else channels.set(prefix, new Set([channel]));
        }
      }
      values.set(channel, value);
    },
    delete(channel) {
      if (!values.delete(channel)) return;
      for (const prefix of prefixesOf(channel)) {
        const same = channels.get(prefix);
        same?.delete(channel);
        if (same?.size === 0) channels.delete(prefix);
      }
    },
    under: (prefix) => (values.size === 0 ? [] : [...(channels.get(prefix) ?? [])]),
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
