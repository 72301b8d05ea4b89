import { type Budget, budgetWindows } from '../../lambda/budget/budget-window.ts';
import { readAmount } from '../../lambda/budget/money.ts';
import { networkOf } from '../../lambda/identity/network.ts';
import { splitList } from '../../lambda/settings/kinds.ts';
import { checked, matching, readWhole } from '../command-line.ts';

const units: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const farthest = 100 * 365 * 86_400_000;

/** Parses an expiry: `12h`, `30d` or `2w` from now, or a date. Undefined if invalid or in the past. */
export function parseExpiry(text: string, now: number): number | undefined {
  const span = parseSpan(text);
  const time = span === undefined ? parseDate(text) : now + span;
  return time > now && time < now + farthest ? time : undefined;
}

function parseSpan(text: string): number | undefined {
  const span = /^(\d{1,6})([hdw])$/.exec(text);
  return span ? Number(span[1]) * (units[span[2] ?? ''] ?? 0) : undefined;
}

/** Dollars per million tokens. */
export interface Prices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

function parsePrices(text: string): Prices | undefined {
  const texts = text.split(',');
  if (texts.length !== 4 || !texts.every((price) => /^\d{1,6}(\.\d{1,6})?$/.test(price))) return undefined;
  const [input = 0, output = 0, cacheRead = 0, cacheWrite = 0] = texts.map(Number);
  return { input, output, cacheRead, cacheWrite };
}

export function parseBudget(text: string): Budget | undefined {
  const [amountText = '', windowText, ...rest] = text.split('/');
  const amount = readAmount(amountText);
  const window = budgetWindows.find((known) => known === windowText);
  return amount === undefined || window === undefined || rest.length > 0 ? undefined : { amount, window };
}

/** One or more ids, separated by commas. Whether they exist is checked against the gateway later. */
function parseModels(text: string): readonly string[] | undefined {
  const ids = [...new Set(splitList(text))];
  return ids.length > 0 && ids.every((id) => /^[\w.-]{1,100}$/.test(id)) ? ids : undefined;
}

/** A date without a time means 00:00 UTC. Invalid dates such as 30 February are refused, not rolled over. */
function parseDate(text: string): number {
  const match = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2})?Z)?$/.exec(text);
  const time = match ? Date.parse(text) : Number.NaN;
  return match && !Number.isNaN(time) && new Date(time).toISOString().startsWith(match[1] ?? '') ? time : Number.NaN;
}

/** Parsers for command-line arguments. */
export const read = {
  member: matching(/^[\w.@:+-]{1,100}$/, '1 to 100 letters, digits and . _ @ : + -'),
  /** The limit is OpenID Connect's: https://openid.net/specs/openid-connect-core-1_0.html#IDToken */
  subject: matching(/^[\x20-\x7e]{1,255}$/, '1 to 255 characters of ASCII'),
  key: matching(/^[\w-]{1,100}$/, 'a key, or a word that stands for one'),
  table: matching(/^[\w.-]{3,255}$/, 'the name of a DynamoDB table'),
  limit: readWhole(0, 1_000_000),
  budget: checked(
    parseBudget,
    `an amount above 0 with at most six places for a ${budgetWindows.join(', ')}, such as 20/month or 0.5/day`,
  ),
  models: checked(parseModels, 'public models separated by commas'),
  burst: readWhole(1, 10_000),
  span: checked(parseSpan, 'a span such as 1h, 12h or 2d'),
  prices: checked(parsePrices, 'four prices such as 3,15,0.3,3.75'),
  network: checked(networkOf, 'an IPv4 address, an IPv6 address or a /64'),
  expiry: (now: () => number) =>
    checked((value) => parseExpiry(value, now()), 'a span such as 12h, 30d or 2w, or a date to come'),
};
