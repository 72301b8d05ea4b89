import { createHmac, type KeyObject } from 'node:crypto';
import type { Access, Upstream } from '../settings/upstreams.ts';
import type { UpstreamFailure } from './failure.ts';

/** One upstream with one of its keys. */
export interface Candidate {
  readonly upstream: Upstream;
  readonly key: string;
  /** The operator's own headers for this upstream. */
  readonly headers: Readonly<Record<string, string>>;
  /** The key and the secret headers, which only the upstream may see. */
  readonly secrets: readonly string[];
}

export type Pool = ReturnType<typeof createPool>;

interface Dependencies {
  readonly upstreams: readonly Upstream[];
  readonly readAccess: (upstream: Upstream) => Promise<Access>;
  readonly rankKeys: RankKeys;
  readonly now: () => number;
}

const restTime = 60_000;
const longestRest = 600_000;

/** The upstreams in order, each with its keys as ranked for a conversation; resting keys come last. */
export function createPool({ upstreams, readAccess, rankKeys, now }: Dependencies) {
  const rests = new Map<string, { readonly number: number; readonly until: number }>();
  const nameOf = ({ upstream, key }: Pick<Candidate, 'upstream' | 'key'>) => `${upstream.prefix} ${key}`;
  let restCount = 0;

  /** The number of a key's current rest: the lower, the longer it has rested. */
  const restOf = (candidate: Candidate, time: number): number | undefined => {
    const rest = rests.get(nameOf(candidate));
    return rest && rest.until > time ? rest.number : undefined;
  };

  return {
    /** The candidates for a turn of this conversation, in order. Empty only if no upstream has a key. */
    async candidates(conversation: Conversation): Promise<Candidate[]> {
      const time = now();
      const ready: Candidate[] = [];
      const resting: Candidate[] = [];
      for (const upstream of upstreams) {
        const { keys, headers, secretHeaders } = await readAccess(upstream);
        const ranked = await rankKeys(keys, conversation);
        const candidates = ranked.map((key) => ({
          ...{ upstream, key, headers: { ...headers, ...secretHeaders } },
          secrets: [key, ...Object.values(secretHeaders)],
        }));
        const rested = candidates.map((candidate) => ({ candidate, rest: restOf(candidate, time) }));
        const inRest = rested.filter(({ rest }) => rest !== undefined);
        ready.push(...rested.filter(({ rest }) => rest === undefined).map(({ candidate }) => candidate));
        resting.push(...inRest.sort((a, b) => Number(a.rest) - Number(b.rest)).map(({ candidate }) => candidate));
      }
      // Last, but never left out: no caller must be able to take failover from the others.
      return [...ready, ...resting];
    },

    /** Whether there is any key at all. */
    async hasKeys(): Promise<boolean> {
      for (const upstream of upstreams) {
        if ((await readAccess(upstream)).keys.length > 0) return true;
      }
      return false;
    },

    /** Makes a key rest that its upstream refuses for now. */
    rest(candidate: Candidate, failure: UpstreamFailure): void {
      const requested = Number(failure.retryAfter) * 1000;
      const time = Number.isFinite(requested) && requested >= 0 ? Math.min(requested, longestRest) : restTime;
      restCount += 1;
      rests.set(nameOf(candidate), { number: restCount, until: now() + time });
    },
  };
}

/** What identifies a conversation: equal on each of its turns, and never equal to anyone else's. */
export interface Conversation {
  readonly caller: string;
  /** The client's id for it, or else the texts that it began with. */
  readonly traits: readonly string[];
}

/** Orders the keys of an upstream for one conversation, the one that it stays with first. */
type RankKeys = (keys: readonly string[], conversation: Conversation) => Promise<readonly string[]>;

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
