import { createScanner, type Json, type Node } from '../json/scan.ts';
import { JsonFault } from '../json/tokens.ts';
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
 * each as it follows the setting's name. From the text: decimals that have become numbers are no longer exact, and repeated
 * names are gone.
 */
export function readPrices(text: string, publicModels: readonly string[], faults: string[]): Prices {
  const prices = new Map<string, ModelPrices>();
  const json = scan(text);
  if (json === undefined || json.kind(json.root) !== 'object') {
    faults.push('must be a JSON object of models, such as {"svc": {"input": 2.50, "output": 10}}');
    return prices;
  }
  for (const [model, value] of namedOnce(json, json.root, '', faults)) {
    if (publicModels.includes(model)) prices.set(model, readModel(json, value, model, faults));
    else faults.push(`names ${model}, which must be ${publicModels.join(' or ')}`);
  }
  for (const model of publicModels) {
    if (!prices.has(model)) faults.push(`lacks ${model}: every public model needs a price`);
  }
  return prices;
}

function scan(text: string): Json | undefined {
  try {
    return createScanner().scan(text);
  } catch (error) {
    if (error instanceof JsonFault) return undefined;
    throw error;
  }
}

function readModel(json: Json, value: Node, model: string, faults: string[]): ModelPrices {
  const read = new Map<string, number>();
  const isObject = json.kind(value) === 'object';
  if (!isObject) faults.push(`needs an object with input and output for ${model}`);
  for (const [name, number] of namedOnce(json, value, ` of ${model}`, faults)) {
    const member = members.get(name);
    const figure = member?.read(json.raw(number));
    if (member === undefined) faults.push(`names ${name} of ${model}, which must be ${[...members.keys()].join(', ')}`);
    else if (figure === undefined) faults.push(`needs ${member.expects} for ${name} of ${model}`);
    else read.set(name, figure);
  }
  for (const name of ['input', 'output']) {
    if (isObject && json.member(value, name) === undefined) faults.push(`lacks ${name} of ${model}`);
  }
  const { input = 0, output = 0, cacheRead = input, cacheWrite = input, ...rest } = Object.fromEntries(read);
  return { input, output, cacheRead, cacheWrite, ...rest };
}

/** The members of an object; `owner` ends the sentence about one that is repeated. */
function namedOnce(json: Json, object: Node, owner: string, faults: string[]): Map<string, Node> {
  const values = new Map<string, Node>();
  for (const key of json.keys(object)) {
    const name = json.string(key);
    if (values.has(name)) faults.push(`names ${name}${owner} twice`);
    values.set(name, key + 1);
  }
  return values;
}
