import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Subject, SubjectName } from './subject.ts';
import type { World } from './world/world.ts';

/** A kind of load, measured in fresh processes each time, with the figures that come from its samples. */
export type Measurement = Measured & (OneByOne | Together);

interface Measured {
  /** How often each subject is measured, alternating with the others. */
  readonly rounds: number;
  /** The baselines, and last the gateway itself. */
  readonly subjects: readonly SubjectName[];
  readonly figures: readonly Figure[];
}

interface OneByOne {
  run(subject: Subject, world: World): Promise<Samples>;
}

interface Together {
  /** Measures subjects that run side by side. Returns the samples of each. */
  runTogether(subjects: readonly Subject[], world: World): Promise<readonly Samples[]>;
}

/** The samples of one run of one subject, by name: one number, or one per request or event. */
export type Samples = Readonly<Record<string, readonly number[]>>;

/** A line of the results: the median of a sample. */
export type Figure = readonly [title: string, unit: string, sample: string, goal?: Goal | undefined];

/** Samples of wall-clock time, which any other load on the machine inflates. */
export const wallClockSamples: ReadonlySet<string> = new Set([
  'firstByte',
  'added',
  'streamAdded',
  'late',
  'cold',
  'idle',
]);

/** The upper bound of a figure, or of its ratio to a baseline. */
export interface Goal {
  readonly to?: 'bare' | 'bareDynamoDb' | 'portkey';
  readonly bound: number;
}

/** The quantile of the numbers, interpolated. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const [low = Number.NaN, high = low] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return low + (high - low) * (place % 1);
}

export const median = (numbers: readonly number[]): number => quantile(numbers, 0.5);

export async function repeat(times: number, step: () => Promise<unknown>): Promise<void> {
  for (let count = 0; count < times; count += 1) await step();
}

/**
 * Measures each in turn, this many times. The order alternates: V8 collects garbage at intervals, which could otherwise always
 * hit the same one.
 */
export async function measureInTurn<One>(
  all: readonly One[],
  times: number,
  measure: (one: One) => Promise<Readonly<Record<string, number>>>,
): Promise<Samples[]> {
  const samples = all.map((one) => ({ one, found: {} as Record<string, number[]> }));
  const order = [...samples];
  await repeat(times, async () => {
    for (const { one, found } of order) {
      for (const [name, value] of Object.entries(await measure(one))) {
        found[name] ??= [];
        found[name].push(value);
      }
    }
    order.reverse();
  });
  return samples.map(({ found }) => found);
}

/** Milliseconds of CPU time of all threads of a process during a step, and of wall-clock time. */
export async function measureStep(pid: number, step: () => Promise<unknown>) {
  const [before, startedAt] = [processorTime(pid), performance.now()];
  await step();
  return { processor: processorTime(pid) - before, time: performance.now() - startedAt };
}

/** CPU time since the process started, in user and kernel mode. */
export function processorTime(pid: number): number {
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
  );
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1e6;
}

/** The peak memory of a process since it started, or since `forgetPeak`, in megabytes. */
export function peakMemory(pid: number): number {
  const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

/** Resets the peak to the current use (https://docs.kernel.org/filesystems/proc.html). */
export const forgetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, '5');
