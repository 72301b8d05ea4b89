import type { Recorder, TokenCounts } from '../dialects/dialect.ts';
import type { Node } from '../json/scan.ts';

export interface FoundText {
  readonly channel: string;
  readonly family: string;
  readonly value: Node;
  readonly logprobs: Node | undefined;
}

export interface FoundLogprobs {
  readonly channel: string;
  readonly value: Node;
  readonly isWhole: boolean;
}

const nothing = () => ({
  models: [] as Node[],
  errorMessages: [] as Node[],
  drops: [] as { readonly object: Node; readonly key: Node }[],
  /** Values and dropped keys in which nothing more is to be replaced. */
  handled: [] as Node[],
  deltas: [] as FoundText[],
  wholeTexts: [] as FoundText[],
  logprobs: [] as FoundLogprobs[],
  counts: [] as { readonly kind: keyof TokenCounts; readonly value: Node }[],
  /** Prefixes of channels, as for `endTexts` and `flushOthers`. */
  ended: [] as string[],
  flushed: [] as string[],
  sequence: undefined as Node | undefined,
  isAlive: false,
  isWithheld: false,
  ends: false,
  mayEnd: false,
  failure: undefined as { readonly message: string; readonly forward: boolean } | undefined,
  /** How many things were found. */
  size: 0,
});

/** What a dialect found in one answer or event. */
export interface Findings extends ReturnType<typeof nothing> {
  readonly recorder: Recorder;
  /** Forgets everything before the next event. */
  clear(): void;
}

/** The highest count of each kind so far: in a stream they grow. */
export type Usage = { -readonly [Kind in keyof TokenCounts]: TokenCounts[Kind] };

/** Notes a count; the highest of each kind stays. */
export function raise(usage: Usage, kind: keyof TokenCounts, count: number): void {
  usage[kind] = Math.max(count, usage[kind] ?? 0);
}

/** Token counts go to `usage`. */
export function createFindings(usage: Usage): Findings {
  const found = nothing();
  const lists = Object.values(found).filter(Array.isArray);
  return Object.assign(found, {
    recorder: createRecorder(found, usage),
    clear() {
      for (const list of lists) list.length = 0;
      found.size = 0;
      found.sequence = undefined;
      found.failure = undefined;
      found.isAlive = false;
      found.isWithheld = false;
      found.ends = false;
      found.mayEnd = false;
    },
  });
}

/** No honest answer holds so many, and each takes more memory than what it stands for. */
const mostFindings = 100_000;
const kindsOfTokens = ['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning'] as const;

function createRecorder(found: ReturnType<typeof nothing>, usage: Usage): Recorder {
  function add<T>(list: T[], one: T): void {
    found.size += 1;
    if (found.size > mostFindings) throw new RangeError(`more than ${mostFindings} things to note at a time`);
    list.push(one);
  }

  function addHandled<T>(list: T[], one: T, value: Node): void {
    list.push(one);
    add(found.handled, value);
  }

  return {
    model: (value) => addHandled(found.models, value, value),
    errorMessage: (value) => addHandled(found.errorMessages, value, value),
    drop(object, key) {
      addHandled(found.drops, { object, key }, key);
      found.handled.push(key + 1);
    },
    keep: (value) => add(found.handled, value),
    textDelta: (channel, family, value, logprobs) =>
      addHandled(found.deltas, { channel, family, value, logprobs }, value),
    wholeText: (channel, family, value, logprobs) =>
      addHandled(found.wholeTexts, { channel, family, value, logprobs }, value),
    logprobs: (channel, value, isWhole) => add(found.logprobs, { channel, value, isWhole }),
    endTexts: (prefix) => add(found.ended, prefix),
    flushOthers: (prefix) => add(found.flushed, prefix),
    sequence(value) {
      found.sequence = value;
    },
    usage(read, places = {}) {
      for (const kind of kindsOfTokens) {
        const [count, value] = [read[kind], places[kind]];
        if (count !== undefined) raise(usage, kind, count);
        if (value !== undefined) add(found.counts, { kind, value });
      }
    },
    withhold() {
      found.isWithheld = true;
    },
    alive() {
      found.isAlive = true;
    },
    end() {
      found.ends = true;
    },
    mayEnd() {
      found.mayEnd = true;
    },
    fail(message, forward = false) {
      found.failure = { message, forward };
    },
  };
}
