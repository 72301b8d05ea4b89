import type { Subject, SubjectName } from '../subject.ts';
import type { World } from '../world/world.ts';

/** What one run of one subject showed, by figure: one number, or one for each request or event. */
export type Samples = Readonly<Record<string, readonly number[]>>;

/** One way of treating a function, in a fresh process each time. */
export interface Measurement {
  /** How often each subject is measured, in turn with the others. */
  readonly rounds: number;
  readonly subjects: readonly SubjectName[];
  run(subject: Subject, world: World): Promise<Samples>;
}
