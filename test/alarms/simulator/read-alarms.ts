import type { MetricName } from './metric-store.ts';

/** An alarm in a CloudFormation template. */
export interface AlarmDefinition {
  readonly name: string;
  /** Minutes. */
  readonly period: number;
  readonly threshold: number;
  readonly evaluationPeriods: number;
  readonly datapointsToAlarm: number;
  readonly missing: 'breaching' | 'notBreaching';
  /** The metrics by their names in the expression; just one if there is no expression. */
  readonly metrics: Readonly<Record<string, MetricStatistic>>;
  readonly expression: string;
}

interface MetricStatistic {
  readonly metric: MetricName;
  readonly statistic: string;
}

interface Query {
  readonly Id: string;
  readonly Expression?: string;
  readonly ReturnData?: boolean;
  readonly MetricStat?: { readonly Metric: MetricName; readonly Period: number; readonly Stat: string };
}

// biome-ignore lint/suspicious/noExplicitAny: an alarm in a template has many shapes
type Properties = any;

interface Resources {
  readonly [id: string]: { readonly Type: string; readonly Properties?: Properties };
}

/** The alarms of a template by their names in the code. Throws if one has a property that is not simulated. */
export function readAlarms({ Resources }: { readonly Resources?: Resources }): AlarmDefinition[] {
  return Object.entries(Resources ?? {})
    .filter(([, { Type }]) => Type === 'AWS::CloudWatch::Alarm')
    .map(([id, { Properties }]) => readAlarm(/^(?:Alarms)?(\w+)[0-9A-F]{8}$/.exec(id)?.[1] ?? id, Properties));
}

function readAlarm(name: string, given: Properties): AlarmDefinition {
  const { AlarmDescription, AlarmActions, OKActions, ComparisonOperator, TreatMissingData, ...properties } = given;
  const { Threshold, EvaluationPeriods, DatapointsToAlarm = EvaluationPeriods, ...watched } = properties;
  if (ComparisonOperator !== 'GreaterThanOrEqualToThreshold') throw new Error(`${name}: ${ComparisonOperator}`);
  if (!['breaching', 'notBreaching'].includes(TreatMissingData)) throw new Error(`${name}: ${TreatMissingData}`);
  return {
    name,
    threshold: Threshold,
    evaluationPeriods: EvaluationPeriods,
    datapointsToAlarm: DatapointsToAlarm,
    missing: TreatMissingData,
    ...readWatched(name, watched),
  };
}

function readWatched(name: string, watched: Properties): Pick<AlarmDefinition, 'metrics' | 'expression' | 'period'> {
  const {
    Metrics,
    Namespace,
    MetricName: metricName,
    Dimensions,
    Statistic,
    ExtendedStatistic,
    Period,
    ...rest
  } = watched;
  if (Object.keys(rest).length > 0) throw new Error(`${name}: ${Object.keys(rest)} is not understood here`);
  if (Metrics === undefined) {
    // Alarms on such a metric ignore missing data, whatever their settings.
    if (Namespace === 'AWS/DynamoDB') throw new Error(`${name} watches a metric of DynamoDB itself`);
    const metric = { Namespace, MetricName: metricName, Dimensions };
    const statistic = Statistic ?? ExtendedStatistic;
    return { metrics: { only: { metric, statistic } }, expression: 'only', period: Period / 60 };
  }
  const queries: readonly Query[] = Metrics;
  const [result, ...others] = queries.filter(({ Expression }) => Expression !== undefined);
  const figures = queries.flatMap(({ Id, MetricStat }) => (MetricStat ? [{ Id, ...MetricStat }] : []));
  const periods = new Set(figures.map(({ Period: each }) => each));
  const isReturned = queries.every(({ Expression, ReturnData = true }) => ReturnData === (Expression !== undefined));
  if (result?.Expression === undefined || others.length > 0 || periods.size !== 1 || !isReturned) {
    throw new Error(`${name}: these queries are not understood here`);
  }
  const entries = figures.map(({ Id, Metric, Stat }) => [Id, { metric: Metric, statistic: Stat }]);
  return { metrics: Object.fromEntries(entries), expression: result.Expression, period: Number([...periods][0]) / 60 };
}
