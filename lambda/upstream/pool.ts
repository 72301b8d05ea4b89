import type { Access, ReadAccess, Upstream } from '../settings/read-upstreams.ts';
import type { Conversation, RankKeys } from './conversation.ts';
import type { UpstreamFailure } from './failure.ts';

/** An upstream with one of its keys. */
export interface Candidate {
  readonly upstream: Upstream;
  readonly key: string;
  /** Whether this is the conversation's own key, with which its encrypted data was created. */
  readonly isOwn: boolean;
  /** Whether its token replaces one that the upstream rejected. */
  readonly isRenewed?: true;
  /** The operator's own headers for this upstream. */
  readonly headers: Readonly<Record<string, string>>;
  /** The key and the secret headers, which nobody but the upstream may see. */
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
/** How many callers count as several, and within how many milliseconds. */
const several = 3;
const severalWithin = 300_000;

/** The upstreams in order, each with its keys ranked for a conversation. Resting keys come last. */
export function createPool({ upstreams, readAccess, rankKeys, now }: Dependencies) {
  /** When each key's rest ends, in the order in which the rests began. */
  const rests = new Map<string, number>();
  /** The callers who recently met a failure of a key, and when. */
  const metBy = new Map<string, ReadonlyMap<string, number>>();
  // All tokens are for the same account, so the upstream alone identifies the candidate.
  const nameOf = ({ upstream: { prefix, tokenRegion }, key }: Pick<Candidate, 'upstream' | 'key'>) =>
    tokenRegion === undefined ? `${prefix} ${key}` : prefix;

  /** The credentials of the upstreams that have keys. Bedrock is left out while no token can be made, unless no other has keys. */
  const readAccesses = async (wanted: readonly Upstream[]) => {
    const usable: { readonly upstream: Upstream; readonly access: Access; readonly isFirst: boolean }[] = [];
    const failures: unknown[] = [];
    for (const upstream of wanted) {
      try {
        const access = await readAccess(upstream);
        if (access.keys.length === 0) continue;
        usable.push({ upstream, access, isFirst: usable.length + failures.length === 0 });
      } catch (error) {
        if (upstream.tokenRegion === undefined) throw error;
        failures.push(error);
      }
    }
    if (usable.length === 0 && failures.length > 0) throw failures[0];
    return usable;
  };

  return {
    /** The candidates for a turn of this conversation, in order. Empty only if no upstream that can answer it has a key. */
    async candidates(conversation: Conversation, canAnswer: (upstream: Upstream) => boolean): Promise<Candidate[]> {
      const time = now();
      const names = [...rests].flatMap(([name, end]) => (end > time ? [name] : []));
      const placeOf = (candidate: Candidate) => names.indexOf(nameOf(candidate));
      const ready: Candidate[] = [];
      const resting: Candidate[] = [];
      for (const { upstream, access, isFirst } of await readAccesses(upstreams.filter(canAnswer))) {
        const ranked = await rankKeys(access.keys, conversation);
        const candidates = ranked.map((key, rank) => ({
          upstream,
          isOwn: isFirst && rank === 0,
          ...callingWith(key, access),
        }));
        ready.push(...candidates.filter((one) => placeOf(one) < 0));
        // The one that has rested longest comes first.
        resting.push(...candidates.filter((one) => placeOf(one) >= 0).sort((a, b) => placeOf(a) - placeOf(b)));
      }
      // Last, but never left out: otherwise a caller could take failover away from the others by provoking failures.
      return [...ready, ...resting];
    },

    /** The same candidate with a new token, after a rejection. Undefined if it takes no tokens. */
    async renew(candidate: Candidate): Promise<Candidate | undefined> {
      if (!canRenew(candidate)) return undefined;
      const access = await readAccess(candidate.upstream, candidate.key).catch(() => undefined);
      const [key] = access?.keys ?? [];
      return access && key !== undefined ? { ...candidate, ...callingWith(key, access), isRenewed: true } : undefined;
    },

    /** The first upstream that can answer and has a key that does not rest. */
    async next(canAnswer: (upstream: Upstream) => boolean): Promise<Upstream | undefined> {
      const time = now();
      const ready = (await readAccesses(upstreams.filter(canAnswer))).find(({ upstream, access }) =>
        access.keys.some((key) => (rests.get(nameOf({ upstream, key })) ?? 0) <= time),
      );
      return ready?.upstream;
    },

    async hasKeys(): Promise<boolean> {
      return (await readAccesses(upstreams)).length > 0;
    },

    /** Records that a caller met a failure of a key. Returns whether several callers recently have. */
    isMetBySeveral(candidate: Candidate, caller: string): boolean {
      const time = now();
      const name = nameOf(candidate);
      const recent = [...(metBy.get(name) ?? [])].filter(([one, at]) => one !== caller && at > time - severalWithin);
      // Drops the oldest: more than `several` are not needed.
      metBy.set(name, new Map([...recent.slice(1 - several), [caller, time]]));
      return recent.length + 1 >= several;
    },

    /** Makes a key rest that its upstream rejects for now. */
    rest(candidate: Candidate, { retryAfter }: UpstreamFailure): void {
      const time = retryAfter === undefined ? restTime : Math.min(retryAfter * 1000, longestRest);
      rests.delete(nameOf(candidate));
      rests.set(nameOf(candidate), now() + time);
    },
  };
}

/** Whether the candidate's key is a token that has not been replaced yet. */
export const canRenew = ({ upstream, isRenewed }: Candidate): boolean =>
  upstream.tokenRegion !== undefined && !isRenewed;

const callingWith = (key: string, { headers, secretHeaders }: Access) => ({
  key,
  headers: { ...headers, ...secretHeaders },
  secrets: [key, ...Object.values(secretHeaders)],
});
