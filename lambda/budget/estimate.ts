import { GatewayError } from '../errors.ts';
import type { Json, Node } from '../json/scan.ts';
import { type ModelPrices, roundUp } from './prices.ts';

/** A file in a request: by its data, or by an address or id. */
export interface RequestFile {
  readonly isImage: boolean;
  /** The string in which the dialect reads the file's data or address. */
  readonly data?: Node | undefined;
}

/** What a dialect knows about the size of a request. */
export interface SizeRules {
  /** Top-level members that limit the tokens of one answer. The first is the one to recommend to a request with none. */
  readonly outputLimits: readonly string[];
  /** The top-level member that asks for several answers at once, if the dialect has one. */
  readonly choicesMember?: string;
}

/** The most that a request is expected to cost, in micros, and what that was worked out from. */
export interface Reservation {
  readonly input: number;
  readonly output: number;
  readonly total: number;
  readonly inputTokens: number;
  /** In tokens, for each choice. */
  readonly outputLimit: number;
  /** The members that limit it, if any does. */
  readonly limitedBy: readonly string[];
  readonly choices: number;
}

const bytesPerToken = 3;
const tokensPerImage = 2_000;
const bytesPerFileToken = 10;
const leastTokensPerFile = 2_000;

/**
 * Estimates what a request may cost before it is sent. Throws `invalid_request` where a limit could be read in two ways.
 * `reservedOutput` stands for an output limit that neither the request nor the prices name.
 */
export function estimateReservation(
  body: Json,
  inputTokens: number,
  rules: SizeRules,
  prices: ModelPrices,
  reservedOutput: number,
): Reservation {
  const { outputLimit, limitedBy, choices } = readLimits(body, rules, prices.maxOutput ?? reservedOutput);
  const dearest = Math.max(prices.input, prices.cacheRead, prices.cacheWrite);
  const input = roundUp(BigInt(inputTokens) * BigInt(dearest));
  const output = roundUp(BigInt(outputLimit) * BigInt(choices) * BigInt(prices.output));
  const total = Math.min(input + output, Number.MAX_SAFE_INTEGER);
  return { input, output, total, inputTokens, outputLimit, limitedBy, choices };
}

/** The largest output limit with which the request would cost no more than `left` micros; undefined if none is small enough. */
export function fittingOutput(reservation: Reservation, prices: ModelPrices, left: number): number | undefined {
  const price = BigInt(reservation.choices) * BigInt(prices.output);
  if (price === 0n) return undefined;
  const tokens = (BigInt(left - reservation.input) * 1_000_000n) / price;
  return tokens < 1n ? undefined : Math.min(Number(tokens), reservation.outputLimit);
}

/** Estimates the tokens of a prompt by its bytes, of which there are `size`, and by its files, which it is told of. */
export function createInputEstimate(body: Json, size: number) {
  let textBytes = size;
  let fileTokens = 0;
  return {
    addFile({ isImage, data }: RequestFile): void {
      const bytes = data === undefined ? 0 : Buffer.byteLength(body.raw(data)) - '""'.length;
      textBytes -= bytes;
      fileTokens += isImage ? tokensPerImage : Math.max(leastTokensPerFile, Math.ceil(bytes / bytesPerFileToken));
    },
    tokens: (): number => Math.ceil(textBytes / bytesPerToken) + fileTokens,
  };
}

/** Reads the top-level numbers on which the size of the answer depends. */
function readLimits(body: Json, rules: SizeRules, otherwise: number) {
  const { outputLimits, choicesMember } = rules;
  const names = choicesMember === undefined ? outputLimits : [...outputLimits, choicesMember];
  const values = readOnce(body, names);
  const limits = outputLimits.flatMap((name) => {
    const value = values.get(name);
    // What is no such number may still be a limit to a lenient upstream, so it must not leave the other one alone.
    return value === undefined ? [] : [{ name, tokens: readCount(body, value) ?? otherwise }];
  });
  return {
    outputLimit: limits.length === 0 ? otherwise : Math.max(...limits.map(({ tokens }) => tokens)),
    limitedBy: limits.map(({ name }) => name),
    choices: choicesMember === undefined ? 1 : readChoices(body, choicesMember, values.get(choicesMember)),
  };
}

function readChoices(body: Json, member: string, value: Node | undefined): number {
  const choices = value === undefined ? 1 : readCount(body, value);
  if (choices !== undefined) return choices;
  throw new GatewayError('invalid_request', `${member} must be a whole number of 1 or more.`);
}

const patterns = new Map<string, RegExp>();

/** Matches one of these names in whatever case. Those of the dialects' rules are few. */
function patternOf(names: readonly string[]): RegExp {
  const either = names.join('|');
  const pattern = patterns.get(either) ?? new RegExp(`^(?:${either})$`, 'iu');
  patterns.set(either, pattern);
  return pattern;
}

/** The values of these top-level members that are not null. Each may stand once, and only in this spelling. */
function readOnce(body: Json, names: readonly string[]): Map<string, Node> {
  const pattern = patternOf(names);
  const seen = new Set<string>();
  const values = new Map<string, Node>();
  for (const key of body.keys(body.root)) {
    const spelt = body.string(key);
    if (!pattern.test(spelt)) continue;
    // Some upstreams match names regardless of case, or take the first of two.
    if (!names.includes(spelt)) {
      const name = names.find((one) => patternOf([one]).test(spelt));
      throw new GatewayError('invalid_request', `${spelt} is not a field: case matters. Write ${name}.`);
    }
    if (seen.has(spelt)) throw new GatewayError('invalid_request', `${spelt} is repeated: send it once.`);
    seen.add(spelt);
    if (body.kind(key + 1) !== 'null') values.set(spelt, key + 1);
  }
  return values;
}

/** A whole number of 1 or more, at most the largest that is exact; undefined for anything else. */
function readCount(body: Json, value: Node): number | undefined {
  const number = body.kind(value) === 'number' ? Number(body.raw(value)) : 0;
  if (number >= Number.MAX_SAFE_INTEGER) return Number.MAX_SAFE_INTEGER;
  return number >= 1 && Number.isInteger(number) ? number : undefined;
}
