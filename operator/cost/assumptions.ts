/** What a request and a deployment are taken to be. The figures of the gateway are measured: by its log, its tests and `npm run bench`. */
export const assumptions = {
  /** A line with its metrics, and what Lambda writes itself about each invocation. */
  logBytes: 850 + 350,
  /** Every request writes its counter once. */
  writeUnits: 1,
  /** Where the caller's key is not cached. */
  readUnits: 1,
  eventsPerSecond: 40,
  eventBytes: 230,
  /** Of a streamed event, in a container that serves many streams. */
  processorSecondsPerEvent: 0.0001,
  /**
   * The web engine. Processor time of a request and of an event at the pace of a stream are measured (docs/performance.md). How
   * Lambda counts its memory is not published: all that an environment has is the dearest way. Half of the 64 streams that one
   * takes are there on average, as traffic is uneven.
   */
  web: {
    processorSecondsPerRequest: 0.00135,
    processorSecondsPerEvent: 0.000051,
    gigabytes: 2,
    streamsAtOnce: 32,
  },
  /** How busy a container may be at the busiest time, which is so many times as busy as the average. */
  utilization: 0.6,
  peak: 3,
  hoursPerMonth: 730,
  /** The smallest container that is worth having, twice, for one may be lost. */
  container: { vcpus: 0.5, gigabytes: 1, atLeast: 2 },
  /** The default account. */
  accountConcurrency: 1_000,
} as const;

/** What is paid for while nobody calls; a test holds it against the stack. */
export const inventory = { secrets: 2, watchedMetrics: 22, dashboards: 1, tables: 2 } as const;

/** The canary of the stack: how often it runs, with how many requests of three kinds, how long they take, and what its line and theirs weigh. */
export const canary = {
  minutesBetween: 5,
  requests: 3,
  memory: 256,
  seconds: 3,
  logBytes: 4 * (850 + 350),
  watchedMetrics: 1,
} as const;

/** The additional metrics of a distribution, and those that the alarms on it watch. */
export const edge = { metrics: 8, watchedMetrics: 7 } as const;

/** Of these, what an account has for nothing, unless something else in it has them. */
export const free = { watchedMetrics: 10, dashboards: 3 } as const;

export const streamSeconds = [2, 10, 30, 60, 300] as const;
export const memories = [256, 512, 1024] as const;
/** What the stack is deployed with. */
export const usualMemory = 512;

/** Charges a minute on one counter, and charges that it gets within one second. */
export const busyRates = [20, 100, 1_000, 3_000, 6_000] as const;
/** Requests a second of a whole deployment that has a daily limit. */
export const deploymentRates = [10, 100, 150, 500, 1_000] as const;
export const bursts = [20, 100, 200] as const;
