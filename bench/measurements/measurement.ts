import type { Subject, SubjectName } from '../subject.ts';
import type { World } from '../world/world.ts';

/** The samples of one run of one subject, by figure: one number, or one per request or event. */
export type Samples = Readonly<Record<string, readonly number[]>>;

/** A kind of load, measured in a fresh process each time. */
export interface Measurement {
  /** How often each subject is measured, in turn with the others. */
  readonly rounds: number;
  readonly subjects: readonly SubjectName[];
  run(subject: Subject, world: World): Promise<Samples>;
}

/** The value below which this share of the numbers is. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const [low = Number.NaN, high = low] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return low + (high - low) * (place % 1);
}

export function median(numbers: readonly number[]): number {
  return quantile(numbers, 0.5);
}
