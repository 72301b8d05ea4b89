import { Worker } from 'node:worker_threads';
import { GatewayError } from '../errors.ts';
import { type DoInThread, type Order, TooMuchWork } from './jobs.ts';
import { createJobQueue } from './queue.ts';

/** What a thread answers. */
export type Reply<Fault = unknown> = { readonly value: unknown } | { readonly fault: Fault };

/** In milliseconds. What takes longer was made to. */
const longestJob = 10_000;
/** After which a thread that has nothing to do ends. */
const idleTime = 30_000;

interface Threads<Fault> {
  /** What every thread runs. */
  readonly entry: URL;
  /** What it needs to know of the deployment. */
  readonly facts: unknown;
  /** The memory that each may use, in MiB. */
  readonly heap: number;
  /** Makes the error again of what a thread says of it. */
  readonly fromFault: (fault: Fault) => unknown;
}

type Run = (order: Order) => Promise<unknown>;

/** Has jobs done two at a time, in turn, as long as they take 128 MiB together. They wait for ten seconds. */
export function queueJobs(run: Run): DoInThread {
  const queue = createJobQueue({
    concurrency: 2,
    memory: 128 * 1_048_576,
    patience: 10_000,
    mostWaiting: 100,
    refuse: tooMany,
  });
  return (order, memory, { caller, signal }) => queue.run({ caller, memory, signal }, () => run(order));
}

/**
 * Does jobs in threads, which start when they are needed and end when they are not. A job that takes too much memory or time ends its
 * thread, and is refused: no other request notices.
 */
export function createThreads<Fault>({ entry, facts, heap, fromFault }: Threads<Fault>): Run {
  /** Those that have nothing to do, and when they end. */
  const idle = new Map<Worker, NodeJS.Timeout>();

  function forget(worker: Worker): void {
    clearTimeout(idle.get(worker));
    idle.delete(worker);
  }

  function start(): Worker {
    const resourceLimits = { maxOldGenerationSizeMb: heap, maxYoungGenerationSizeMb: 32 };
    const worker = new Worker(entry, { workerData: facts, resourceLimits });
    // Whoever waits for it hears of it too. Without a listener it would end the process.
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

  /** Must not keep a process alive that has nothing else to do. */
  function leave(worker: Worker): void {
    worker.unref();
    idle.set(worker, setTimeout(() => end(worker), idleTime).unref());
  }

  return async (order) => {
    const worker = take();
    try {
      const reply = await ask<Fault>(worker, order);
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

/** Why a thread gave no answer. */
class ThreadEnded extends Error {
  override readonly name = 'ThreadEnded';
}

async function ask<Fault>(worker: Worker, order: Order): Promise<Reply<Fault>> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply<Fault>>();
  const onError = (cause: unknown) => reject(new ThreadEnded('the thread failed', { cause }));
  const onExit = () => reject(new ThreadEnded('the thread ended'));
  const timer = setTimeout(() => reject(new ThreadEnded('the thread took too long')), longestJob);
  worker.once('message', resolve).once('error', onError).once('exit', onExit);
  worker.postMessage(order);
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
