import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch';

/** What an alarm watches, and when it rings. */
export interface Watch {
  readonly what: string;
  /** The heading of its runbook in docs/operations.md, as a link writes it. */
  readonly runbook: string;
  readonly metric: IMetric;
  /** Rings when the metric is at least this, */
  readonly threshold: number;
  /** in this many periods */
  readonly times: number;
  /** of this many latest ones: more than `times`, as the last figures may be late. */
  readonly among: number;
  /** Whether it rings when there are no figures at all. */
  readonly silenceRings?: true;
}

/** By the names of their alarms. */
export type Watches = Readonly<Record<string, Watch>>;

/** In periods of five minutes. A quiet night's failures are this far apart. */
export const hour = 12;
/** Rings at the first occurrence, and ends a quarter of an hour after the last. */
export const atOnce = { threshold: 1, times: 1, among: 3 } as const;
/** Rings once it has lasted for ten minutes. */
export const lasting = { times: 2, among: 3 } as const;
