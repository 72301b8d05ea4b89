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

export function addCounts(a: TokenCounts, b: TokenCounts): TokenCounts {
  return {
    answers: a.answers + b.answers,
    withoutUsage: a.withoutUsage + b.withoutUsage,
    input: a.input + b.input,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    output: a.output + b.output,
    reasoning: a.reasoning + b.reasoning,
  };
}

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
  const tokens = (kind: keyof typeof tokenFields) => Number(line[tokenFields[kind]] ?? 0);
  return {
    answers: 1,
    withoutUsage: line.usage === 'absent' ? 1 : 0,
    input: tokens('input'),
    cacheRead: tokens('cacheRead'),
    cacheWrite: tokens('cacheWrite'),
    output: tokens('output'),
    reasoning: tokens('reasoning'),
  };
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
