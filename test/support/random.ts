/** A seeded random number generator: the same seed gives the same sequence. */
export interface Random {
  /** A whole number from 0 up to, but not including, `limit`. */
  below(limit: number): number;
  /** True once in `times`. */
  once(times: number): boolean;
  pick<T>(choices: readonly T[]): T;
}

/** Marsaglia's xorshift: 32 bits of state, fast, and as random as tests need. */
export function createRandom(seed: number): Random {
  let state = scatter(seed) || 1;
  const below = (limit: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return Math.floor(((state >>> 0) / 2 ** 32) * limit);
  };
  return {
    below,
    once: (times) => below(times) === 0,
    pick: (choices) => {
      const chosen = choices[below(choices.length)];
      if (chosen === undefined) throw new RangeError('nothing to choose from');
      return chosen;
    },
  };
}

/** MurmurHash3's finalizer: without it, the first numbers of neighbouring seeds are nearly the same. */
function scatter(seed: number): number {
  const once = Math.imul(seed ^ (seed >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return twice ^ (twice >>> 16);
}
