import { Session } from 'node:inspector/promises';

/**
 * Counts the steps of some work in the code under test: how often each block runs, by V8's coverage, plus how many characters or
 * elements the native functions process. Only code imported after the counter's creation counts.
 */
export async function createStepCounter(isCounted: (url: string) => boolean) {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });

  const takeBlocks = async (): Promise<number> => {
    const { result } = await session.post('Profiler.takePreciseCoverage'); // and resets it
    return result
      .filter(({ url }) => isCounted(url))
      .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges))
      .reduce((total, { count }) => total + count, 0);
  };

  return {
    async count(work: () => unknown): Promise<number> {
      const native = await countNative(work);
      return native + (await takeBlocks());
    },
  };
}

/** How much input a call of each native function processes. */
type Cost<T> = (result: unknown, self: T, args: readonly unknown[]) => number;

const found = (result: unknown, { length }: { length: number }, from: unknown): number =>
  (typeof result === 'number' && result >= 0 ? result : length) - Number(from ?? 0);
const all: Cost<{ length: number }> = (_, { length }) => length;

const keyLength: Cost<unknown> = (_, __, [key]) => (typeof key === 'string' ? key.length : 0);
const lookups = { get: keyLength, set: keyLength, has: keyLength, add: keyLength, delete: keyLength };

/** Native functions whose work grows with their input. String slices are not among them: V8 copies nothing. */
const costs: readonly (readonly [object, Readonly<Record<string, Cost<never>>>])[] = [
  [
    String.prototype,
    {
      indexOf: (result, self: string, [, from]) => found(result, self, from),
      includes: all,
      split: all,
      trim: all,
      startsWith: (_, __, [what]) => String(what).length,
    },
  ],
  [
    Array.prototype,
    {
      shift: all,
      splice: all,
      indexOf: all,
      includes: all,
      concat: all,
      slice: all,
      join: all,
      toSorted: all,
      sort: all,
    },
  ],
  [JSON, { parse: (_, __, [text]) => String(text).length, stringify: (result) => String(result).length }],
  [Map.prototype, lookups],
  [Set.prototype, lookups],
];

async function countNative(work: () => unknown): Promise<number> {
  let steps = 0;
  const restore: (() => void)[] = [];
  const replace = (holder: object, name: string, make: (original: never) => unknown): void => {
    const property = Object.getOwnPropertyDescriptor(holder, name) ?? {};
    restore.push(() => Object.defineProperty(holder, name, property));
    Object.defineProperty(holder, name, { ...property, value: make(property.value as never) });
  };
  for (const [holder, functions] of costs) {
    for (const [name, cost] of Object.entries(functions)) {
      if (!(name in holder)) continue;
      replace(
        holder,
        name,
        (original: (...args: unknown[]) => unknown) =>
          function (this: never, ...args: unknown[]) {
            const result = original.apply(this, args);
            steps += cost(result, this, args);
            return result;
          },
      );
    }
  }
  // All methods that apply a pattern call `exec` once that is replaced.
  replace(
    RegExp.prototype,
    'exec',
    (original: RegExp['exec']) =>
      function (this: RegExp, text: string) {
        const start = this.global || this.sticky ? this.lastIndex : 0;
        const match = original.call(this, text);
        const end = match ? match.index + match[0].length : this.sticky ? start : String(text).length;
        steps += end - start;
        return match;
      },
  );
  for (const name of ['Set', 'Map'] as const) {
    replace(
      globalThis,
      name,
      (original: SetConstructor) =>
        new Proxy(original, {
          construct(target, [content]: [Iterable<unknown>?]) {
            const collection = new target(content);
            steps += collection.size;
            return collection;
          },
        }),
    );
  }
  try {
    await work();
  } finally {
    for (const undo of restore) undo();
  }
  return steps;
}
