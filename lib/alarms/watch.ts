import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch';

/** What an alarm looks at, and when it rings. */
export interface Watch {
  readonly what: string;
  /** The heading of its runbook in docs/operations.md, as a link writes it. */
  readonly runbook: string;
  readonly metric: IMetric;
  /** Raised when the metric is at least this, */
  readonly threshold: number;
  /** so many times */
  readonly times: number;
  /** among so many of the latest figures: more than `times`, as the last ones may come late. */
  readonly among: number;
  /** Whether it rings where there are no figures at all. */
  readonly silenceRings?: true;
}

/** Each by the name of its alarm. */
export type Watches = Readonly<Record<string, Watch>>;

/** Twelve periods: so much patience a quiet night needs. */
export const hour = 12;
/** What rings the first time. It ends a quarter of an hour after the last. */
export const atOnce = { threshold: 1, times: 1, among: 3 } as const;
/** What has to go on for ten minutes. */
export const lasting = { times: 2, among: 3 } as const;
