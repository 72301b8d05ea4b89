import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch';

/** What an alarm looks at, and when it rings. */
export interface Watch {
  readonly what: string;
  /** The heading of its runbook in docs/operations.md, as a link writes it. */
  readonly runbook: string;
  readonly metric: IMetric;
  /** Raised when the metric is at least this, so many times in a row. */
  readonly threshold: number;
  readonly times: number;
  /** Among so many of the latest figures; without it, in a row. */
  readonly among?: number;
}

/** Each by the name of its alarm. */
export type Watches = Readonly<Record<string, Watch>>;
