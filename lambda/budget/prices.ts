/** Micros per million tokens. */
export interface ModelPrices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** The model's own output limit, in tokens. */
  readonly maxOutput?: number;
}

/** By public model id. */
export type Prices = ReadonlyMap<string, ModelPrices>;

/** The usage of an answer. */
export interface BilledTokens {
  /** The whole prompt, including the cache reads and writes below. */
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

/** What prompt caching saved, in micros. Below 0 if cache writes cost more than cache reads saved. */
export function savedByCaches(prices: ModelPrices, usage: BilledTokens): number {
  if (!usage.cacheRead && !usage.cacheWrite) return 0;
  const uncached = { ...prices, cacheRead: prices.input, cacheWrite: prices.input };
  return costOf(uncached, usage) - costOf(prices, usage);
}

/** Converts tokens times price to micros. Capped at the largest safe integer, which is beyond any budget. */
export function roundUp(tokensTimesPrice: bigint): number {
  const micros = (tokensTimesPrice + perMillion - 1n) / perMillion;
  return micros < Number.MAX_SAFE_INTEGER ? Number(micros) : Number.MAX_SAFE_INTEGER;
}
