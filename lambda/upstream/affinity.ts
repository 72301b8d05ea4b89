import { createHmac } from 'node:crypto';

/** What a request is known by to its upstream's keys: equal on every turn of one conversation, and of nobody else's. */
export interface Conversation {
  readonly caller: string;
  /** An id that the client gives it, or else the texts that it began with. */
  readonly traits: readonly string[];
}

/** Orders the keys of an upstream for one conversation, the one that it stays with first. */
export type RankKeys = (keys: readonly string[], conversation: Conversation) => Promise<readonly string[]>;

/**
 * Rendezvous hashing: every environment orders alike with nothing stored, and a key that comes or goes moves only the
 * conversations that it gains or loses. The hash is keyed, so that nobody can work out who shares a key with whom; the
 * caller is part of it, so that nobody can aim at another's key.
 * https://www.eecs.umich.edu/techreports/cse/96/CSE-TR-316-96.pdf
 */
export function createRankKeys(readSubkey: (label: string) => Promise<Buffer>): RankKeys {
  return async (keys, { caller, traits }) => {
    if (keys.length < 2) return keys;
    const secret = await readSubkey('conversations');
    const hash = createHmac('sha256', secret);
    for (const part of [caller, ...traits]) hash.update(`${part.length}:`).update(part);
    const conversation = hash.digest();
    const weightOf = (key: string) => createHmac('sha256', secret).update(conversation).update(key).digest();
    return keys
      .map((key) => ({ key, weight: weightOf(key) }))
      .sort((a, b) => b.weight.compare(a.weight))
      .map(({ key }) => key);
  };
}
