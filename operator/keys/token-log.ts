/** The tokens of all answers in a period, as their upstreams bill them. */
export interface TokenCounts {
  readonly answers: number;
  /** Of these, the ones that did not report their tokens. */
  readonly withoutUsage: number;
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
}

/** Those of one key. Guests have no key; a linked network has only a member. Members are hashes, as in the log. */
export interface TokenGroup {
  readonly key: string | undefined;
  readonly member: string | undefined;
  readonly counts: TokenCounts;
}

export interface TokenReport {
  readonly groups: readonly TokenGroup[];
  /** A note for the operator if something is missing. */
  readonly note?: string;
}

/** Sums up the log between two times, in epoch milliseconds. */
export type ReadTokens = (from: number, to: number) => Promise<TokenReport>;

/** The fields of a line with their sums' names. Lambda's log and the local one have the same lines. */
export const tokenFields = {
  input: 'inputTokens',
  cacheRead: 'cacheReadTokens',
  cacheWrite: 'cacheWriteTokens',
  output: 'outputTokens',
  reasoning: 'reasoningTokens',
} as const;

/** Adds up lines that have been read. */
export function sumTokens(lines: readonly string[], from: number, to: number): TokenReport {
  const groups = new Map<string, TokenGroup>();
  const parsed = lines.map(parseLine);
  for (const line of parsed) {
    const time = Date.parse(`${line.time}`);
    if (!(time >= from && time <= to) || !tellsUsage(line)) continue;
    const { key, member } = { key: textOf(line.key), member: textOf(line.member) };
    const name = JSON.stringify([key, member]);
    const counts = addCounts(groups.get(name)?.counts ?? noTokens, countsOf(line));
    groups.set(name, { key, member, counts });
  }
  const first = textOf(parsed[0]?.time);
  const note =
    first === undefined
      ? 'The gateway has logged nothing since it was started.'
      : `The running gateway's log begins at ${first}.`;
  return { groups: [...groups.values()], note };
}

export const noTokens: TokenCounts = {
  ...{ answers: 0, withoutUsage: 0 },
  ...{ input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 },
};

/** Counts from what says how many there are of each. */
export const countEach = (countOf: (name: keyof TokenCounts) => number): TokenCounts =>
  Object.fromEntries(
    Object.keys(noTokens).map((name) => [name, countOf(name as keyof TokenCounts)]),
  ) as unknown as TokenCounts;

export const addCounts = (a: TokenCounts, b: TokenCounts): TokenCounts => countEach((name) => a[name] + b[name]);

type Line = Readonly<Record<string, unknown>>;

function parseLine(text: string): Line {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    // The last line may be incomplete.
    return {};
  }
}

const tellsUsage = (line: Line): boolean =>
  line[tokenFields.input] !== undefined || line[tokenFields.output] !== undefined || line.usage === 'absent';

function countsOf(line: Line): TokenCounts {
  return countEach((name) => {
    if (name === 'answers') return 1;
    return name === 'withoutUsage' ? Number(line.usage === 'absent') : Number(line[tokenFields[name]] ?? 0);
  });
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
