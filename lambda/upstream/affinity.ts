import { createHmac, type KeyObject } from 'node:crypto';

/** What identifies a conversation: equal on each of its turns, and never equal to anyone else's. */
export interface Conversation {
  readonly caller: string;
  /** The client's id for it, or else the texts that it began with. */
  readonly traits: readonly string[];
}

/** Orders the keys of an upstream for one conversation, the one that it stays with first. */
export type RankKeys = (keys: readonly string[], conversation: Conversation) => Promise<readonly string[]>;

/**
 * Rendezvous hashing: all environments rank alike without storing anything, and a key that is added or removed moves only
 * its own conversations. The hash is keyed, so that nobody can work out who shares a key, and includes the caller, so that
 * nobody can aim at someone else's key.
 * https://www.eecs.umich.edu/techreports/cse/96/CSE-TR-316-96.pdf
 */
export function createRankKeys(readSubkey: (label: string) => Promise<KeyObject>): RankKeys {
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
