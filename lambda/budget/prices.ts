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
 * Reads `{"svc": {"input": 2.50, "output": 10}, …}`, which must price every public model, and adds what is wrong to `faults`.
 * From the text, since decimals that have become numbers are no longer exact, and repeated names are gone.
 */
export function readPrices(text: string, publicModels: readonly string[], faults: string[]): Prices {
  const prices = new Map<string, ModelPrices>();
  const json = scan(text);
  if (json === undefined || json.kind(json.root) !== 'object') {
    faults.push('PRICES must be a JSON object of models, such as {"svc": {"input": 2.50, "output": 10}}');
    return prices;
  }
  for (const [model, value] of namedOnce(json, json.root, 'PRICES', faults)) {
    if (publicModels.includes(model)) prices.set(model, readModel(json, value, `PRICES of ${model}`, faults));
    else faults.push(`PRICES names ${model}, which must be ${publicModels.join(' or ')}`);
  }
  for (const model of publicModels) {
    if (!prices.has(model)) faults.push(`PRICES lacks ${model}: every public model needs a price`);
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

function readModel(json: Json, model: Node, place: string, faults: string[]): ModelPrices {
  const read = new Map<string, number>();
  if (json.kind(model) !== 'object') faults.push(`${place} must be an object with input and output`);
  for (const [name, value] of namedOnce(json, model, place, faults)) {
    const member = members.get(name);
    const number = member?.read(json.raw(value));
    if (member === undefined)
      faults.push(`${place} has no member ${name}: it may be ${[...members.keys()].join(', ')}`);
    else if (number === undefined) faults.push(`${name} in ${place} must be ${member.expects}`);
    else read.set(name, number);
  }
  const required = (name: string): number => {
    if (json.kind(model) === 'object' && json.member(model, name) === undefined) faults.push(`${place} lacks ${name}`);
    return read.get(name) ?? 0;
  };
  const input = required('input');
  const most = read.get('maxOutput');
  return {
    input,
    output: required('output'),
    cacheRead: read.get('cacheRead') ?? input,
    cacheWrite: read.get('cacheWrite') ?? input,
    ...(most !== undefined && { maxOutput: most }),
  };
}

function namedOnce(json: Json, object: Node, place: string, faults: string[]): Map<string, Node> {
  const values = new Map<string, Node>();
  for (const key of json.keys(object)) {
    const name = json.string(key);
    if (values.has(name)) faults.push(`${place} names ${name} twice`);
    values.set(name, key + 1);
  }
  return values;
}
