export interface Job {
  /** Who has it done. */
  readonly caller: string;
  /** What it may hold in memory while it is done, in bytes. */
  readonly memory?: number;
  /** Aborts when nobody waits for it any more. */
  readonly signal?: AbortSignal | undefined;
}

interface JobQueueOptions {
  /** How many jobs are done at a time. */
  readonly concurrency: number;
  /** The same for the jobs of one caller. */
  readonly concurrencyOfCaller?: number;
  /** What the jobs that are being done may hold in memory together, in bytes. A job for which this is too little is done alone. */
  readonly memory?: number;
  /** How long a job waits for its turn, in milliseconds. */
  readonly patience: number;
  /** How many jobs of one caller wait. */
  readonly mostWaiting: number;
  /** What a job is refused with that waits for too long, or finds too many waiting. */
  readonly refuse: () => Error;
}

export type JobQueue = ReturnType<typeof createJobQueue>;

/**
 * Does jobs, a few at a time, in turn: after a job of one caller, those of the others that wait come first. Knows nothing of what
 * is done in them.
 */
export function createJobQueue({
  concurrency,
  concurrencyOfCaller = concurrency,
  memory = Number.POSITIVE_INFINITY,
  patience,
  mostWaiting,
  refuse,
}: JobQueueOptions) {
  /** By caller, the one whose turn is next first. */
  const waiting = new Map<string, Waiting[]>();
  const runningOf = new Map<string, number>();
  let running = 0;
  let held = 0;
  const memoryOf = (job: Job) => Math.min(job.memory ?? 0, memory);

  const mayBegin = (caller: string) => (runningOf.get(caller) ?? 0) < concurrencyOfCaller;

  /** Counts a job as one that is being done (1), or not any more (-1). */
  const count = (job: Job, change: 1 | -1): void => {
    running += change;
    held += change * memoryOf(job);
    const left = (runningOf.get(job.caller) ?? 0) + change;
    if (left > 0) runningOf.set(job.caller, left);
    else runningOf.delete(job.caller);
  };

  const remove = (one: Waiting): void => {
    const { caller } = one.job;
    const left = waiting.get(caller)?.filter((other) => other !== one) ?? [];
    if (left.length > 0) waiting.set(caller, left);
    else waiting.delete(caller);
  };

  const findNext = (): Waiting | undefined => {
    for (const [one] of waiting.values()) if (one && mayBegin(one.job.caller)) return one;
    return undefined;
  };

  /** Begins what may begin. None that needs little memory goes before one that waits for much: that might never find it. */
  const beginNext = (): void => {
    while (running < concurrency) {
      const next = findNext();
      if (next === undefined || held + memoryOf(next.job) > memory) return;
      const { caller } = next.job;
      remove(next);
      const left = waiting.get(caller);
      // After all others.
      if (left && waiting.delete(caller)) waiting.set(caller, left);
      count(next.job, 1);
      next.begin();
    }
  };

  /** Resolves when it is the job's turn. */
  const turn = (job: Job): Promise<void> =>
    new Promise((resolve, reject) => {
      const { caller, signal } = job;
      const ofCaller = waiting.get(caller) ?? [];
      const giveUp = (reason: unknown): void => {
        stopWaiting();
        remove(one);
        reject(reason);
        beginNext();
      };
      const leave = () => giveUp(signal?.reason);
      const timer = setTimeout(() => giveUp(refuse()), patience);
      const stopWaiting = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', leave);
      };
      const begin = (): void => {
        stopWaiting();
        resolve();
      };
      const one = { job, begin };
      signal?.addEventListener('abort', leave);
      waiting.set(caller, [...ofCaller, one]);
      beginNext();
    });

  return {
    /** Does a job when its turn comes. Rejects as the job does, or with why it was never begun. */
    async run<T>(job: Job, work: () => Promise<T>): Promise<T> {
      job.signal?.throwIfAborted();
      if ((waiting.get(job.caller)?.length ?? 0) >= mostWaiting) throw refuse();
      await turn(job);
      try {
        job.signal?.throwIfAborted();
        return await work();
      } finally {
        count(job, -1);
        beginNext();
      }
    },
  };
}

interface Waiting {
  readonly job: Job;
  readonly begin: () => void;
}
