import type { Subject, SubjectName } from '../subject.ts';
import type { World } from '../world/world.ts';

/** The samples of one run of one subject, by figure: one number, or one per request or event. */
export type Samples = Readonly<Record<string, readonly number[]>>;

/** A kind of load, measured in a fresh process each time. */
export interface Measurement {
  /** How often each subject is measured, in turn with the others. */
  readonly rounds: number;
  readonly subjects: readonly SubjectName[];
  /** It takes minutes, and is run only by its name. */
  readonly isApart?: boolean;
  run(subject: Subject, world: World): Promise<Samples>;
}
