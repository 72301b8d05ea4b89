import type { Marks, TokenCounts } from '../dialects/dialect.ts';
import type { Node } from '../json/scan.ts';

export interface TextMark {
  readonly channel: string;
  readonly family: string;
  readonly value: Node;
  readonly logprobs: Node | undefined;
}

export interface TokenMark {
  readonly channel: string;
  readonly value: Node;
  readonly isWhole: boolean;
}

export interface CountMark {
  readonly kind: keyof TokenCounts;
  readonly value: Node;
}

/** What a dialect marked in one answer or event. */
export interface MarkSheet {
  readonly marks: Marks;
  readonly models: readonly Node[];
  readonly explanations: readonly Node[];
  readonly drops: readonly { readonly object: Node; readonly key: Node }[];
  /** Values and dropped keys in which nothing more is to be replaced. */
  readonly settled: readonly Node[];
  readonly deltas: readonly TextMark[];
  readonly wholes: readonly TextMark[];
  readonly tokens: readonly TokenMark[];
  readonly counts: readonly CountMark[];
  /** Prefixes of channels. */
  readonly closes: readonly string[];
  readonly turns: readonly string[];
  readonly sequence: Node | undefined;
  readonly alive: boolean;
  readonly withheld: boolean;
  readonly ends: boolean;
  readonly mayEnd: boolean;
  readonly failure: { readonly message: string; readonly forward: boolean } | undefined;
  /** Makes the sheet empty for the next event. */
  clear(): void;
}

/** The highest count of each kind so far: in a stream they grow. */
export type Usage = { -readonly [Kind in keyof TokenCounts]: TokenCounts[Kind] };

/** No honest answer has so many marks, and each takes more memory than what it marks. */
const mostMarks = 100_000;

/** Notes a count; the highest of each kind stays. */
export function raise(usage: Usage, kind: keyof TokenCounts, count: number): void {
  usage[kind] = Math.max(count, usage[kind] ?? 0);
}

const kindsOfTokens = ['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning'] as const;

/** An empty sheet; token counts go to `usage`. */
export function createMarkSheet(usage: Usage): MarkSheet {
  const models: Node[] = [];
  const explanations: Node[] = [];
  const drops: { object: Node; key: Node }[] = [];
  const settled: Node[] = [];
  const deltas: TextMark[] = [];
  const wholes: TextMark[] = [];
  const tokens: TokenMark[] = [];
  const counts: CountMark[] = [];
  const closes: string[] = [];
  const turns: string[] = [];
  const lists = [models, explanations, drops, settled, deltas, wholes, tokens, counts, closes, turns];
  let count = 0;
  function add<T>(list: T[], mark: T): void {
    count += 1;
    if (count > mostMarks) throw new RangeError(`more than ${mostMarks} things to note at a time`);
    list.push(mark);
  }

  const marks: Marks = {
    model(value) {
      models.push(value);
      add(settled, value);
    },
    explanation(value) {
      explanations.push(value);
      add(settled, value);
    },
    drop(object, key) {
      drops.push({ object, key });
      add(settled, key);
      settled.push(key + 1);
    },
    pass(value) {
      add(settled, value);
    },
    delta(channel, family, value, logprobs) {
      deltas.push({ channel, family, value, logprobs });
      add(settled, value);
    },
    whole(channel, family, value, logprobs) {
      wholes.push({ channel, family, value, logprobs });
      add(settled, value);
    },
    tokens(channel, value, isWhole) {
      add(tokens, { channel, value, isWhole });
    },
    close(prefix) {
      add(closes, prefix);
    },
    turn(prefix) {
      add(turns, prefix);
    },
    sequence(value) {
      sheet.sequence = value;
    },
    usage(read, places = {}) {
      for (const kind of kindsOfTokens) {
        const [count, value] = [read[kind], places[kind]];
        if (count !== undefined) raise(usage, kind, count);
        if (value !== undefined) add(counts, { kind, value });
      }
    },
    withhold() {
      sheet.withheld = true;
    },
    alive() {
      sheet.alive = true;
    },
    end() {
      sheet.ends = true;
    },
    mayEnd() {
      sheet.mayEnd = true;
    },
    fail(message, forward = false) {
      sheet.failure = { message, forward };
    },
  };
  const sheet = {
    marks,
    models,
    explanations,
    drops,
    settled,
    deltas,
    wholes,
    tokens,
    counts,
    closes,
    turns,
    sequence: undefined as Node | undefined,
    alive: false,
    withheld: false,
    ends: false,
    mayEnd: false,
    failure: undefined as MarkSheet['failure'],
    clear(): void {
      for (const list of lists) list.length = 0;
      count = 0;
      sheet.sequence = undefined;
      sheet.alive = false;
      sheet.withheld = false;
      sheet.ends = false;
      sheet.mayEnd = false;
      sheet.failure = undefined;
    },
  };
  return sheet;
}
