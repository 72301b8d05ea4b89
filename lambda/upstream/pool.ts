import type { ReadAccess, Upstream } from '../settings/read-upstreams.ts';
import type { Conversation, RankKeys } from './conversation.ts';
import type { UpstreamFailure } from './failure.ts';

/** One upstream with one of its keys. */
export interface Candidate {
  readonly upstream: Upstream;
  readonly key: string;
  /** Whether the conversation is this key's own, so that all it holds was made with it. */
  readonly isOwn: boolean;
  /** The operator's own headers for this upstream. */
  readonly headers: Readonly<Record<string, string>>;
  /** The key and the secret headers, which only the upstream may see. */
  readonly secrets: readonly string[];
}

export type Pool = ReturnType<typeof createPool>;

interface Dependencies {
  readonly upstreams: readonly Upstream[];
  readonly readAccess: ReadAccess;
  readonly rankKeys: RankKeys;
  readonly now: () => number;
}

const restTime = 60_000;
const longestRest = 600_000;
/** How many callers make several, within how many milliseconds. */
const several = 3;
const severalWithin = 300_000;

/** The upstreams in order, each with its keys as ranked for a conversation; resting keys come last. */
export function createPool({ upstreams, readAccess, rankKeys, now }: Dependencies) {
  /** When each key's rest ends; the key that went to rest last comes last. */
  const rests = new Map<string, number>();
  /** Who has met a failure of a key last, and when. */
  const metBy = new Map<string, ReadonlyMap<string, number>>();
  const nameOf = ({ upstream, key }: Pick<Candidate, 'upstream' | 'key'>) => `${upstream.prefix} ${key}`;

  return {
    /** The candidates for a turn of this conversation, in order. Empty only if no upstream that can answer it has a key. */
    async candidates(conversation: Conversation, canAnswer: (upstream: Upstream) => boolean): Promise<Candidate[]> {
      const time = now();
      const names = [...rests].flatMap(([name, end]) => (end > time ? [name] : []));
      const placeOf = (candidate: Candidate) => names.indexOf(nameOf(candidate));
      const ready: Candidate[] = [];
      const resting: Candidate[] = [];
      for (const upstream of upstreams.filter(canAnswer)) {
        const { keys, headers, secretHeaders } = await readAccess(upstream);
        const ranked = await rankKeys(keys, conversation);
        const isFirst = ready.length + resting.length === 0;
        const candidates = ranked.map((key, rank) => ({
          upstream,
          key,
          isOwn: isFirst && rank === 0,
          headers: { ...headers, ...secretHeaders },
          secrets: [key, ...Object.values(secretHeaders)],
        }));
        ready.push(...candidates.filter((one) => placeOf(one) < 0));
        // The one that has rested longest first.
        resting.push(...candidates.filter((one) => placeOf(one) >= 0).sort((a, b) => placeOf(a) - placeOf(b)));
      }
      // Last, but never left out: no caller must be able to take failover from the others.
      return [...ready, ...resting];
    },

    /** The first upstream that can answer and has a key that is awake. */
    async next(canAnswer: (upstream: Upstream) => boolean): Promise<Upstream | undefined> {
      const time = now();
      for (const upstream of upstreams.filter(canAnswer)) {
        const { keys } = await readAccess(upstream);
        if (keys.some((key) => (rests.get(nameOf({ upstream, key })) ?? 0) <= time)) return upstream;
      }
      return undefined;
    },

    async hasKeys(): Promise<boolean> {
      for (const upstream of upstreams) {
        if ((await readAccess(upstream)).keys.length > 0) return true;
      }
      return false;
    },

    /** Notes down who has met a failure of a key. Says whether several callers have, lately. */
    isMetBySeveral(candidate: Candidate, caller: string): boolean {
      const time = now();
      const name = nameOf(candidate);
      const recent = [...(metBy.get(name) ?? [])].filter(([one, at]) => one !== caller && at > time - severalWithin);
      // Who came first is forgotten first, so that no more are kept than are asked for.
      metBy.set(name, new Map([...recent.slice(1 - several), [caller, time]]));
      return recent.length + 1 >= several;
    },

    /** Makes a key rest that its upstream refuses for now. */
    rest(candidate: Candidate, { retryAfter }: UpstreamFailure): void {
      const time = retryAfter === undefined ? restTime : Math.min(retryAfter * 1000, longestRest);
      rests.delete(nameOf(candidate));
      rests.set(nameOf(candidate), now() + time);
    },
  };
}
