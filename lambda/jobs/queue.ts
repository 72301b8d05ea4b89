export interface Job {
  readonly caller: string;
  /** How much memory it may take while it runs, in bytes. */
  readonly memory?: number;
  /** Aborts when nobody waits for the job any more. */
  readonly signal?: AbortSignal | undefined;
}

interface Capacity {
  /** How many jobs run at a time. */
  readonly concurrency: number;
  /** The same for the jobs of one caller. */
  readonly concurrencyOfCaller?: number;
  /** How much memory all running jobs may take together, in bytes. A job that needs more runs alone. */
  readonly memory?: number;
}

interface JobQueueOptions extends Capacity {
  /** How long a job waits in the queue, in milliseconds. */
  readonly waitTimeout: number;
  /** How many jobs of one caller may wait. */
  readonly mostWaiting: number;
  /** The error for a job that waits too long, or finds too many waiting. */
  readonly refuse: () => Error;
}

/**
 * A fair queue: runs a few jobs at a time, round-robin by caller.
 */
export function createJobQueue({ waitTimeout, mostWaiting, refuse, ...capacity }: JobQueueOptions) {
  const waiting = createWaitingList();
  const running = createRunning(capacity);

  /** Starts jobs while there is room. A small job never overtakes one that waits for memory: otherwise the large one might starve. */
  const startNext = (): void => {
    while (running.hasSlot()) {
      const next = waiting.findNext(running.hasSlotFor);
      if (next === undefined || !running.hasMemoryFor(next.job)) return;
      waiting.takeTurn(next);
      running.add(next.job);
      next.begin();
    }
  };

  /** Resolves when it is the job's turn; rejects if that takes too long or the job is aborted. */
  const turn = async (job: Job): Promise<void> => {
    const { signal } = job;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const one = { job, begin: resolve };
    const giveUp = (reason: unknown): void => {
      waiting.remove(one);
      reject(reason);
      startNext();
    };
    const leave = () => giveUp(signal?.reason);
    const timer = setTimeout(() => giveUp(refuse()), waitTimeout);
    signal?.addEventListener('abort', leave);
    waiting.add(one);
    startNext();
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', leave);
    }
  };

  return {
    /** Runs a job when its turn comes. Rejects like the job, or with the reason why it never started. */
    async run<T>(job: Job, work: () => Promise<T>): Promise<T> {
      job.signal?.throwIfAborted();
      if (waiting.countOf(job.caller) >= mostWaiting) throw refuse();
      await turn(job);
      try {
        job.signal?.throwIfAborted();
        return await work();
      } finally {
        running.remove(job);
        startNext();
      }
    },
  };
}

/** The running jobs. */
function createRunning({
  concurrency,
  concurrencyOfCaller = concurrency,
  memory = Number.POSITIVE_INFINITY,
}: Capacity) {
  const jobsOf = new Map<string, number>();
  let jobs = 0;
  let held = 0;
  const memoryOf = (job: Job) => Math.min(job.memory ?? 0, memory);

  const count = (job: Job, change: 1 | -1): void => {
    jobs += change;
    held += change * memoryOf(job);
    const left = (jobsOf.get(job.caller) ?? 0) + change;
    if (left > 0) jobsOf.set(job.caller, left);
    else jobsOf.delete(job.caller);
  };

  return {
    hasSlot: () => jobs < concurrency,
    hasSlotFor: (caller: string) => (jobsOf.get(caller) ?? 0) < concurrencyOfCaller,
    hasMemoryFor: (job: Job) => held + memoryOf(job) <= memory,
    add: (job: Job) => count(job, 1),
    remove: (job: Job) => count(job, -1),
  };
}

interface Waiting {
  readonly job: Job;
  readonly begin: () => void;
}

/** The waiting jobs by caller, in the order of the callers' turns. */
function createWaitingList() {
  const waiting = new Map<string, readonly Waiting[]>();
  const of = (caller: string) => waiting.get(caller) ?? [];

  const remove = (one: Waiting): void => {
    const { caller } = one.job;
    const left = of(caller).filter((other) => other !== one);
    if (left.length > 0) waiting.set(caller, left);
    else waiting.delete(caller);
  };

  return {
    countOf: (caller: string) => of(caller).length,
    add(one: Waiting): void {
      const { caller } = one.job;
      waiting.set(caller, [...of(caller), one]);
    },
    remove,
    findNext(mayBegin: (caller: string) => boolean): Waiting | undefined {
      for (const [one] of waiting.values()) if (one && mayBegin(one.job.caller)) return one;
      return undefined;
    },
    /** Removes the job whose turn it is, and moves its caller to the end. */
    takeTurn(one: Waiting): void {
      remove(one);
      const { caller } = one.job;
      const left = waiting.get(caller);
      if (left && waiting.delete(caller)) waiting.set(caller, left);
    },
  };
}
