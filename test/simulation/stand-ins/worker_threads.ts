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

/** Does the work of a thread in place. */
export class Worker extends EventEmitter {
  readonly postMessage: (message: never) => void;

  constructor(entry: URL, { workerData }: { readonly workerData: unknown }) {
    super();
    this.postMessage = entry.pathname.endsWith('/sqlite.js')
      ? here().startStoreThread(this)
      : runJobs(this, workerData as WorkFacts);
  }

  async terminate(): Promise<number> {
    this.emit('exit', 1);
    return 1;
  }

  ref(): void {}
  unref(): void {}
}

/** Long work is done, or its thread ends, as the world decides. */
function runJobs(worker: Worker, facts: WorkFacts) {
  const runJob = createRunJob(facts);
  return (message: JobMessage): void => {
    const answering = runJob(message);
    const fate = here().fateOfThread();
    if (fate === 'hangs') return;
    here().setTimer(
      () => (fate === 'dies' ? worker.emit('exit', 1) : answering.then((reply) => worker.emit('message', reply))),
      workTime,
      false,
    );
  };
}
