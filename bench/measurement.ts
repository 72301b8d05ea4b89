import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Subject, SubjectName } from './subject.ts';
import type { World } from './world/world.ts';

/** A kind of load, measured in fresh processes each time, and what its samples say. */
export type Measurement = Measured & (OneByOne | Together);

interface Measured {
  /** How often each subject is measured, in turn with the others. */
  readonly rounds: number;
  /** The baselines, and last the gateway that the figures are about. */
  readonly subjects: readonly SubjectName[];
  readonly figures: readonly Figure[];
}

interface OneByOne {
  run(subject: Subject, world: World): Promise<Samples>;
}

interface Together {
  /** Measures subjects that run side by side. Gives the samples of each. */
  runTogether(subjects: readonly Subject[], world: World): Promise<readonly Samples[]>;
}

/** The samples of one run of one subject, by name: one number, or one per request or event. */
export type Samples = Readonly<Record<string, readonly number[]>>;

/** One line of the results: the median of a sample. */
export type Figure = readonly [title: string, unit: string, sample: string, goal?: Goal | undefined];

/** Samples of time that passes, which whatever else the machine does makes longer. */
export const onTheClock: ReadonlySet<string> = new Set(['firstByte', 'added', 'streamAdded', 'late', 'cold', 'idle']);

/** What the ratio to a baseline, or the figure itself, may be at most. */
export interface Goal {
  readonly to?: 'bare' | 'bareDynamoDb' | 'portkey';
  readonly bound: number;
}

/** The value below which this share of the numbers is. */
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
 * Samples of each, measured in turn so many times. Which is first changes each time: V8 collects garbage at intervals, and could
 * else meet the same one always.
 */
export async function inTurn<One>(
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

/** Milliseconds of processor time that all threads of a process use during a step, and of time that passes. */
export async function measureStep(pid: number, step: () => Promise<unknown>) {
  const [before, startedAt] = [processorTime(pid), performance.now()];
  await step();
  return { processor: processorTime(pid) - before, time: performance.now() - startedAt };
}

/** Since the process started, in user and kernel mode. */
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
