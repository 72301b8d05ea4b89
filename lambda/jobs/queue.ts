export interface Job {
  /** Who has it done. */
  readonly caller: string;
  /** What it may hold in memory while it is done, in bytes. */
  readonly memory?: number;
  /** Aborts when nobody waits for it any more. */
  readonly signal?: AbortSignal | undefined;
}

interface Capacity {
  /** How many jobs are done at a time. */
  readonly concurrency: number;
  /** The same for the jobs of one caller. */
  readonly concurrencyOfCaller?: number;
  /** What the jobs that are being done may hold in memory together, in bytes. A job for which this is too little is done alone. */
  readonly memory?: number;
}

interface JobQueueOptions extends Capacity {
  /** How long a job waits for its turn, in milliseconds. */
  readonly patience: number;
  /** How many jobs of one caller wait. */
  readonly mostWaiting: number;
  /** What a job is refused with that waits for too long, or finds too many waiting. */
  readonly refuse: () => Error;
}

/**
 * Does jobs, a few at a time, in turn: after a job of one caller, those of the others that wait come first. Knows nothing of what
 * is done in them.
 */
export function createJobQueue({ patience, mostWaiting, refuse, ...capacity }: JobQueueOptions) {
  const waiting = createWaitingList();
  const running = createRunning(capacity);

  /** Begins what may begin. None that needs little memory goes before one that waits for much: that might never find it. */
  const beginNext = (): void => {
    while (running.hasPlace()) {
      const next = waiting.findNext(running.hasPlaceFor);
      if (next === undefined || !running.hasMemoryFor(next.job)) return;
      waiting.takeTurn(next);
      running.add(next.job);
      next.begin();
    }
  };

  /** Resolves when it is the job's turn. */
  const turn = async (job: Job): Promise<void> => {
    const { signal } = job;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const one = { job, begin: resolve };
    const giveUp = (reason: unknown): void => {
      waiting.remove(one);
      reject(reason);
      beginNext();
    };
    const leave = () => giveUp(signal?.reason);
    const timer = setTimeout(() => giveUp(refuse()), patience);
    signal?.addEventListener('abort', leave);
    waiting.add(one);
    beginNext();
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', leave);
    }
  };

  return {
    /** Does a job when its turn comes. Rejects as the job does, or with why it was never begun. */
    async run<T>(job: Job, work: () => Promise<T>): Promise<T> {
      job.signal?.throwIfAborted();
      if (waiting.countOf(job.caller) >= mostWaiting) throw refuse();
      await turn(job);
      try {
        job.signal?.throwIfAborted();
        return await work();
      } finally {
        running.remove(job);
        beginNext();
      }
    },
  };
}

/** What is being done. */
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
    hasPlace: () => jobs < concurrency,
    hasPlaceFor: (caller: string) => (jobsOf.get(caller) ?? 0) < concurrencyOfCaller,
    hasMemoryFor: (job: Job) => held + memoryOf(job) <= memory,
    add: (job: Job) => count(job, 1),
    remove: (job: Job) => count(job, -1),
  };
}

interface Waiting {
  readonly job: Job;
  readonly begin: () => void;
}

/** Those that wait, by caller: the caller whose turn is next comes first. */
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
    /** Removes one whose turn it is. What else its caller waits for comes after all others. */
    takeTurn(one: Waiting): void {
      remove(one);
      const { caller } = one.job;
      const left = waiting.get(caller);
      if (left && waiting.delete(caller)) waiting.set(caller, left);
    },
  };
}
