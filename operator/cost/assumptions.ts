import { mostBurst } from '../../lambda/tables/counter-cost.ts';

/** The model's assumptions. Figures about the gateway come from its log, its tests and `npm run bench`. */
export const assumptions = {
  /** The gateway's line with its metrics, and Lambda's own lines about the invocation. */
  logBytes: 850 + 350,
  /** The one write of the counter. */
  writeUnits: 1,
  /** The caller's key, which is not always cached. */
  readUnits: 1,
  eventsPerSecond: 40,
  eventBytes: 230,
  /** In a container that serves many streams. */
  processorSecondsPerEvent: 0.0001,
  /**
   * The web engine. The processor times of a request and of an event at a model's pace are measured (docs/performance.md). AWS
   * has not published how memory is counted, so this takes the most expensive way: all that an environment has. As traffic is
   * uneven, an environment is half full on average, with 32 of its 64 streams.
   */
  web: {
    processorSecondsPerRequest: 0.00135,
    processorSecondsPerEvent: 0.000051,
    gigabytes: 2,
    streamsAtOnce: 32,
  },
  /** How busy a container may be at the peak, and how many times the average the peak is. */
  utilization: 0.6,
  peak: 3,
  hoursPerMonth: 730,
  /** The smallest container worth having; at least two, as one may fail. */
  container: { vcpus: 0.5, gigabytes: 1, atLeast: 2 },
  /** An account's default. */
  accountConcurrency: 1_000,
} as const;

/** The resources that cost money while nobody calls; a test compares them with the stack. */
export const inventory = { secrets: 2, watchedMetrics: 22, dashboards: 1, tables: 2 } as const;

/** One run of the canary: three requests, all their log lines and its own. */
export const canary = {
  minutesBetween: 5,
  requests: 3,
  memory: 256,
  seconds: 3,
  logBytes: 4 * (850 + 350),
  watchedMetrics: 1,
} as const;

/** A distribution's additional metrics, and those that its alarms watch. */
export const edge = { metrics: 8, watchedMetrics: 7 } as const;

/** The free allowance of an account, unless something else in it uses it up. */
export const free = { watchedMetrics: 10, dashboards: 3 } as const;

export const streamSeconds = [2, 10, 30, 60, 300] as const;
export const memories = [256, 512, 1024] as const;
/** The default of `memorySize`. */
export const usualMemory = 512;

/** Charges a minute on one counter. */
export const busyRates = [20, mostBurst, 600] as const;
