import { readMicros } from './money.ts';

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

/** What an answer used: all tokens of its prompt, of which some were read from a cache or written to one, and its own. */
export interface BilledTokens {
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
  const uncached = { ...prices, cacheRead: prices.input, cacheWrite: prices.input };
  return costOf(uncached, usage) - costOf(prices, usage);
}

/** Tokens times price in micros. What no number holds exactly becomes the largest that does, which no budget reaches. */
export function roundUp(tokensTimesPrice: bigint): number {
  const micros = (tokensTimesPrice + perMillion - 1n) / perMillion;
  return micros < Number.MAX_SAFE_INTEGER ? Number(micros) : Number.MAX_SAFE_INTEGER;
}

/** The price of one token is at most 1. */
const highestPrice = 1_000_000_000_000;
const price = { expects: 'a decimal from 0 to 1000000 with at most six places, such as 2.50', read: readPrice };
const maxOutput = { expects: 'a whole number from 1 to 100000000', read: readTokens };
const members = new Map([
  ...['input', 'output', 'cacheRead', 'cacheWrite'].map((name) => [name, price] as const),
  ['maxOutput', maxOutput],
]);

function readPrice(text: string): number | undefined {
  const micros = readMicros(text);
  return micros !== undefined && micros <= highestPrice ? micros : undefined;
}

function readTokens(text: string): number | undefined {
  return /^[1-9]\d{0,8}$/.test(text) && Number(text) <= 100_000_000 ? Number(text) : undefined;
}

/**
 * Reads `{"svc": {"input": 2.50, "output": 10}, …}`, which must price every public model, and adds what is wrong to `faults`,
 * each as it follows the setting's name.
 */
export function readPrices(text: string, publicModels: readonly string[], faults: string[]): Prices {
  const prices = new Map<string, ModelPrices>();
  const models = membersOf(parse(text));
  if (models === undefined) {
    faults.push('must be a JSON object of models, such as {"svc": {"input": 2.50, "output": 10}}');
    return prices;
  }
  for (const [model, value] of models) {
    if (publicModels.includes(model)) prices.set(model, readModel(value, model, faults));
    else faults.push(`names ${model}, which must be ${publicModels.join(' or ')}`);
  }
  for (const model of publicModels) {
    if (!prices.has(model)) faults.push(`lacks ${model}: every public model needs a price`);
  }
  const repeated = repeatedName(text, models);
  if (repeated !== undefined) faults.push(`names ${repeated} twice`);
  return prices;
}

function readModel(value: unknown, model: string, faults: string[]): ModelPrices {
  const read = new Map<string, number>();
  const given = membersOf(value);
  if (given === undefined) faults.push(`needs an object with input and output for ${model}`);
  for (const [name, source] of given ?? []) {
    const member = members.get(name);
    const figure = typeof source === 'string' ? member?.read(source) : undefined;
    if (member === undefined) faults.push(`names ${name} of ${model}, which must be ${[...members.keys()].join(', ')}`);
    else if (figure === undefined) faults.push(`needs ${member.expects} for ${name} of ${model}`);
    else read.set(name, figure);
  }
  for (const name of ['input', 'output']) {
    if (given?.has(name) === false) faults.push(`lacks ${name} of ${model}`);
  }
  const { input = 0, output = 0, cacheRead = input, cacheWrite = input, ...rest } = Object.fromEntries(read);
  return { input, output, cacheRead, cacheWrite, ...rest };
}

/** A value with the source text in place of each number, string and the like: as a number, a decimal is no longer exact. */
function parse(text: string): unknown {
  const toSource = (_name: string, value: unknown, { source }: { readonly source?: string }) => source ?? value;
  try {
    return JSON.parse(text, toSource as Parameters<typeof JSON.parse>[1]);
  } catch {
    return undefined;
  }
}

function membersOf(value: unknown): Map<string, unknown> | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? new Map(Object.entries(value)) : undefined;
}

/** The first name of which the text has more than what was read from it, where the last of several wins. */
function repeatedName(text: string, models: ReadonlyMap<string, unknown>): string | undefined {
  const read = [...models].flatMap(([model, value]) => [model, ...(membersOf(value)?.keys() ?? [])]);
  const names = [...text.matchAll(/("(?:[^"\\]|\\.)*")\s*:/g)].map(([, name = '']): string => JSON.parse(name));
  const count = (list: readonly string[], name: string) => list.filter((one) => one === name).length;
  return names.find((name) => count(names, name) > count(read, name));
}
