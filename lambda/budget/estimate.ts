import { GatewayError } from '../errors.ts';
import type { Json, Node } from '../json/scan.ts';
import { type ModelPrices, roundUp } from './prices.ts';

/** A file in a request: inline, or by URL or id. */
export interface RequestFile {
  readonly isImage: boolean;
  /** The string that holds the file's data or URL. */
  readonly data?: Node | undefined;
}

/** How a dialect limits the size of an answer. */
export interface SizeRules {
  /** Top-level members that limit the output tokens. The first is the one to recommend. */
  readonly outputLimits: readonly string[];
  /** The top-level member that asks for several choices, if the dialect has one. */
  readonly choicesMember?: string;
}

/** The most that a request is expected to cost, in micros, and how that was worked out. */
export interface Reservation {
  readonly input: number;
  readonly output: number;
  readonly total: number;
  readonly inputTokens: number;
  /** In tokens per choice. */
  readonly outputLimit: number;
  /** The members that the limit comes from, if any. */
  readonly limitedBy: readonly string[];
  readonly choices: number;
}

const bytesPerToken = 3;
const tokensPerImage = 2_000;
const bytesPerFileToken = 10;
const leastTokensPerFile = 2_000;

/**
 * Estimates what a request may cost before it is sent. Throws `invalid_request` if a limit is ambiguous. `reservedOutput`: the
 * output limit to assume if neither the request nor the prices name one.
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

/** The largest output limit with which the request fits into `left` micros; undefined if even the prompt doesn't. */
export function fittingOutput(reservation: Reservation, prices: ModelPrices, left: number): number | undefined {
  const price = BigInt(reservation.choices) * BigInt(prices.output);
  if (price === 0n) return undefined;
  const tokens = (BigInt(left - reservation.input) * 1_000_000n) / price;
  return tokens < 1n ? undefined : Math.min(Number(tokens), reservation.outputLimit);
}

/** Estimates the tokens of a prompt from its `size` in bytes, and from its files, which are added one by one. */
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

/** Reads the members that limit the size of the answer. */
function readLimits(body: Json, rules: SizeRules, otherwise: number) {
  const { outputLimits, choicesMember } = rules;
  const names = choicesMember === undefined ? outputLimits : [...outputLimits, choicesMember];
  const values = readOnce(body, names);
  const limits = outputLimits.flatMap((name) => {
    const value = values.get(name);
    // A lenient upstream may accept what isn't a proper number, so it counts as a limit of unknown size instead of being ignored.
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

/** Matches one of these names in any case. Cached without a bound, because only the dialects' few lists get here. */
function patternOf(names: readonly string[]): RegExp {
  const either = names.join('|');
  const pattern = patterns.get(either) ?? new RegExp(`^(?:${either})$`, 'iu');
  patterns.set(either, pattern);
  return pattern;
}

/** The non-null values of these top-level members. Throws if one is repeated, or spelt in another case. */
function readOnce(body: Json, names: readonly string[]): Map<string, Node> {
  const pattern = patternOf(names);
  const seen = new Set<string>();
  const values = new Map<string, Node>();
  for (const key of body.keys(body.root)) {
    const spelt = body.string(key);
    if (!pattern.test(spelt)) continue;
    // Some upstreams ignore case, or take the first of two duplicates.
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

/** A whole number of 1 or more, capped at the largest safe integer; undefined for anything else. */
function readCount(body: Json, value: Node): number | undefined {
  const number = body.kind(value) === 'number' ? Number(body.raw(value)) : 0;
  if (number >= Number.MAX_SAFE_INTEGER) return Number.MAX_SAFE_INTEGER;
  return number >= 1 && Number.isInteger(number) ? number : undefined;
}
