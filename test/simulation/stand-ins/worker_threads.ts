import { EventEmitter } from 'node:events';
import type { JobMessage } from '../../../lambda/jobs/jobs.ts';
import type { WorkFacts } from '../../../lambda/steps/body-jobs.ts';
import { createRunJob } from '../../../lambda/worker.ts';
import { here } from './current.ts';

/** Nobody is in a thread here. */
export const parentPort = undefined;
export const workerData = undefined;

/** How long a thread takes for a job. */
const workTime = 40;

/** Does the work of a thread in place, or ends as the world decides. */
export class Worker extends EventEmitter {
  readonly #runJob: ReturnType<typeof createRunJob>;

  constructor(_entry: URL, { workerData: facts }: { readonly workerData: WorkFacts }) {
    super();
    this.#runJob = createRunJob(facts);
  }

  postMessage(message: JobMessage): void {
    const answering = this.#runJob(message);
    const fate = here().fateOfThread();
    if (fate === 'hangs') return;
    here().setTimer(
      () => (fate === 'dies' ? this.emit('exit', 1) : answering.then((reply) => this.emit('message', reply))),
      workTime,
      false,
    );
  }

  async terminate(): Promise<number> {
    this.emit('exit', 1);
    return 1;
  }

  ref(): void {}
  unref(): void {}
}
