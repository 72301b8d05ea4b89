import type { Upstream } from '../settings/config.ts';
import type { UpstreamFailure } from './failure.ts';

/** One upstream with one of its keys. */
export interface Candidate {
  readonly upstream: Upstream;
  readonly key: string;
}

export interface Pool {
  /** Who is asked for one request, in this order. Empty only where no upstream has a key. */
  candidates(): Promise<Candidate[]>;
  /** Whether there is any key at all. */
  hasKeys(): Promise<boolean>;
  /** Lets a key rest that its upstream does not take for now. */
  rest(candidate: Candidate, failure: UpstreamFailure): void;
}

interface Dependencies {
  readonly upstreams: readonly Upstream[];
  readonly readKeys: (upstream: Upstream) => Promise<readonly string[]>;
  readonly now: () => number;
}

const restTime = 60_000;
const longestRest = 600_000;

/** Upstreams in their order, each with its keys in turn; resting keys only when there is no other. */
export function createPool({ upstreams, readKeys, now }: Dependencies): Pool {
  const rests = new Map<string, { readonly number: number; readonly until: number }>();
  const nameOf = ({ upstream, key }: Candidate) => `${upstream.prefix} ${key}`;
  let turn = 0;
  let restCount = 0;

  return {
    async candidates() {
      const time = now();
      const awake: Candidate[] = [];
      const resting: { readonly candidate: Candidate; readonly number: number }[] = [];
      for (const upstream of upstreams) {
        const keys = await readKeys(upstream);
        for (let index = 0; index < keys.length; index += 1) {
          const key = keys[(turn + index) % keys.length];
          if (key === undefined) continue;
          const candidate = { upstream, key };
          const rest = rests.get(nameOf(candidate));
          if (rest && rest.until > time) resting.push({ candidate, number: rest.number });
          else awake.push(candidate);
        }
      }
      turn += 1;
      if (awake.length > 0) return awake;
      // Nobody is turned away without a try: the key that has rested longest may be well again.
      const [longest] = resting.toSorted((a, b) => a.number - b.number);
      return longest ? [longest.candidate] : [];
    },

    async hasKeys() {
      for (const upstream of upstreams) {
        if ((await readKeys(upstream)).length > 0) return true;
      }
      return false;
    },

    rest(candidate, failure) {
      const wished = Number(failure.retryAfter) * 1000;
      const time = Number.isFinite(wished) && wished >= 0 ? Math.min(wished, longestRest) : restTime;
      restCount += 1;
      rests.set(nameOf(candidate), { number: restCount, until: now() + time });
    },
  };
}
