import { parentPort, workerData } from 'node:worker_threads';
import * as translating from './forward/translating.ts';
import type { JobMessage } from './jobs/jobs.ts';
import type { Reply } from './jobs/threads.ts';
import { createScanner, type Json, scanLeniently } from './json/scan.ts';
import { createWork, type WorkFacts } from './steps/body-jobs.ts';
import { type Fault, toFault } from './upstream/fault.ts';

/* The worker thread: runs the long jobs that would block the event loop, one at a time. */

/** What runs the jobs of a deployment, in whichever thread it is. */
export function createRunJob(facts: WorkFacts): (message: JobMessage) => Promise<Reply<Fault>> {
  const work: Readonly<Record<string, (json: Json, input: never) => unknown>> = createWork(
    facts,
    async () => translating,
  );
  return async ({ name, text, isLenient, input }) => {
    try {
      const scanner = createScanner();
      const json = isLenient ? scanLeniently(scanner, text) : scanner.scan(text);
      return { value: await work[name]?.(json, input as never) };
    } catch (thrown) {
      return { fault: toFault(thrown) };
    }
  };
}

if (parentPort) {
  const port = parentPort;
  const runJob = createRunJob(workerData as WorkFacts);
  port.on('message', async (message: JobMessage) => port.postMessage(await runJob(message)));
}
