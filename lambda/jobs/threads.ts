import { Worker } from 'node:worker_threads';
import { GatewayError } from '../errors.ts';
import { type DoInThread, type JobMessage, TooMuchWork } from './jobs.ts';
import { createJobQueue } from './queue.ts';

/** What a worker thread posts back. */
export type Reply<Fault = unknown> = { readonly value: unknown } | { readonly fault: Fault };

/** In milliseconds. Only a hostile job takes longer. */
const longestJob = 10_000;
/** In milliseconds, after which an idle thread ends. */
const idleTime = 30_000;

interface Threads<Fault> {
  /** The module that every thread runs. */
  readonly entry: URL;
  /** What it needs to know about the deployment: its `workerData`. */
  readonly facts: unknown;
  /** The heap limit of each thread, in MiB. */
  readonly heap: number;
  /** Rebuilds the error from what a thread posted. */
  readonly fromFault: (fault: Fault) => unknown;
}

type Run = (message: JobMessage) => Promise<unknown>;

/** Queues jobs: two run at a time, within 128 MiB together; the others wait up to ten seconds. */
export function queueJobs(run: Run): DoInThread {
  const queue = createJobQueue({
    concurrency: 2,
    memory: 128 * 1_048_576,
    waitTimeout: 10_000,
    mostWaiting: 100,
    refuse: tooMany,
  });
  return (message, memory, { caller, signal }) => queue.run({ caller, memory, signal }, () => run(message));
}

/**
 * Runs jobs in a pool of worker threads, which start lazily and end when idle. A job that takes too much memory or time is refused, and its
 * thread terminated: no other request is affected.
 */
export function createThreads<Fault>({ entry, facts, heap, fromFault }: Threads<Fault>): Run {
  /** The idle threads, each with the timer that ends it. */
  const idle = new Map<Worker, NodeJS.Timeout>();

  function forget(worker: Worker): void {
    clearTimeout(idle.get(worker));
    idle.delete(worker);
  }

  function start(): Worker {
    const resourceLimits = { maxOldGenerationSizeMb: heap, maxYoungGenerationSizeMb: 32 };
    const worker = new Worker(entry, { workerData: facts, resourceLimits });
    // The job's own listener reports the error. Without this one, an error of an idle thread would crash the process.
    return worker.on('error', () => {}).once('exit', () => forget(worker));
  }

  function take(): Worker {
    const [worker = start()] = idle.keys();
    forget(worker);
    worker.ref();
    return worker;
  }

  function end(worker: Worker): Promise<unknown> {
    forget(worker);
    return worker.terminate();
  }

  /** Returns a thread to the pool, unreferenced so that it does not keep the process alive. */
  function leave(worker: Worker): void {
    worker.unref();
    idle.set(worker, setTimeout(() => end(worker), idleTime).unref());
  }

  return async (message) => {
    const worker = take();
    try {
      const reply = await ask<Fault>(worker, message);
      leave(worker);
      if ('fault' in reply) throw fromFault(reply.fault);
      return reply.value;
    } catch (error) {
      if (!(error instanceof ThreadEnded)) throw error;
      await end(worker);
      throw new TooMuchWork(error);
    }
  };
}

/** A thread failed to reply. */
class ThreadEnded extends Error {
  override readonly name = 'ThreadEnded';
}

async function ask<Fault>(worker: Worker, message: JobMessage): Promise<Reply<Fault>> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply<Fault>>();
  const onError = (cause: unknown) => reject(new ThreadEnded('the thread failed', { cause }));
  const onExit = () => reject(new ThreadEnded('the thread ended'));
  const timer = setTimeout(() => reject(new ThreadEnded('the thread took too long')), longestJob);
  worker.once('message', resolve).once('error', onError).once('exit', onExit);
  worker.postMessage(message);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    worker.off('message', resolve).off('error', onError).off('exit', onExit);
  }
}

function tooMany(): GatewayError {
  const message = 'The gateway is busy with too many large requests. Please try again in a moment.';
  return new GatewayError('service_unavailable', message, { refund: true, reason: 'long_jobs' });
}
