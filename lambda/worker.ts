import { parentPort, workerData } from 'node:worker_threads';
import * as translating from './forward/translating.ts';
import type { JobMessage } from './jobs/jobs.ts';
import type { Reply } from './jobs/threads.ts';
import { createScanner, type Json, scanLeniently } from './json/scan.ts';
import { createWork, type WorkFacts } from './steps/body-jobs.ts';
import { type Fault, toFault } from './upstream/fault.ts';

/* The worker thread: runs the long jobs that would block the event loop, one at a time. */

const work: Readonly<Record<string, (json: Json, input: never) => unknown>> = createWork(
  workerData as WorkFacts,
  async () => translating,
);

async function answer({ name, text, isLenient, input }: JobMessage): Promise<Reply<Fault>> {
  try {
    const scanner = createScanner();
    const json = isLenient ? scanLeniently(scanner, text) : scanner.scan(text);
    return { value: await work[name]?.(json, input as never) };
  } catch (thrown) {
    return { fault: toFault(thrown) };
  }
}

parentPort?.on('message', async (message: JobMessage) => parentPort?.postMessage(await answer(message)));
