/** Micros per million tokens. */
export interface ModelPrices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** The most tokens that the model answers with. */
  readonly maxOutput?: number;
}

/** By the id of a public model. */
export type Prices = ReadonlyMap<string, ModelPrices>;

/** What an answer used. */
export interface BilledTokens {
  /** The whole prompt, including the two below. */
  readonly input?: number | undefined;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  readonly output?: number | undefined;
}

const perMillion = 1_000_000n;

/** In micros, rounded up once. */
export function costOf(prices: ModelPrices, usage: BilledTokens): number {
  const { input = 0, cacheRead = 0, cacheWrite = 0, output = 0 } = usage;
  const parts = [
    [Math.max(0, input - cacheRead - cacheWrite), prices.input],
    [cacheRead, prices.cacheRead],
    [cacheWrite, prices.cacheWrite],
    [output, prices.output],
  ] as const;
  return roundUp(parts.reduce((sum, [tokens, price]) => sum + BigInt(tokens) * BigInt(price), 0n));
}

/** What the same tokens would have cost without caches, less what they cost: in micros, below 0 where caches made it dearer. */
export function savedByCaches(prices: ModelPrices, usage: BilledTokens): number {
  if (!usage.cacheRead && !usage.cacheWrite) return 0;
  const uncached = { ...prices, cacheRead: prices.input, cacheWrite: prices.input };
  return costOf(uncached, usage) - costOf(prices, usage);
}

/** Tokens times price in micros. What no number holds exactly becomes the largest that does, which no budget reaches. */
export function roundUp(tokensTimesPrice: bigint): number {
  const micros = (tokensTimesPrice + perMillion - 1n) / perMillion;
  return micros < Number.MAX_SAFE_INTEGER ? Number(micros) : Number.MAX_SAFE_INTEGER;
}
