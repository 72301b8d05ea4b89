/** The data points of one period of five minutes, by their metric's label. */
export type Figures = Readonly<Record<string, readonly number[]>>;

/** The members of a template's alarm that decide when it rings. */
export interface Alarm {
  readonly name: string;
  /** The length of a period. */
  readonly seconds: number;
  readonly threshold: number;
  /** This many of the latest `among` periods must reach the threshold. */
  readonly times: number;
  readonly among: number;
  readonly silenceRings: boolean;
  /** Label and statistic of each metric, by its name in the expression. */
  readonly watched: Readonly<Record<string, { readonly label: string; readonly statistic: string }>>;
  readonly expression: string;
}

// biome-ignore lint/suspicious/noExplicitAny: an alarm in a template has many shapes
type Tree = any;

const withoutHash = (id: string) => id.replace(/[0-9A-F]{8}$/, '');

/** Such as `AWS/Lambda Errors FunctionName=GatewayFunction`. */
function labelOf({ Namespace, MetricName, Dimensions = [] }: Tree): string {
  const words = Dimensions.map(
    ({ Name, Value }: Tree) => `${Name}=${typeof Value === 'string' ? Value : withoutHash(Value.Ref)}`,
  );
  return [Namespace, MetricName, ...words].join(' ');
}

/** A template's alarms, by their names in the code. */
export function readAlarms({ Resources }: Tree): Alarm[] {
  const alarms = Object.entries<Tree>(Resources).filter(([, { Type }]) => Type === 'AWS::CloudWatch::Alarm');
  return alarms.map(([id, { Properties: given }]) => {
    if (given.ComparisonOperator !== 'GreaterThanOrEqualToThreshold')
      throw new Error(`${id}: ${given.ComparisonOperator}`);
    const single = { Metric: given, Period: given.Period, Stat: given.Statistic };
    const queries: readonly Tree[] = given.Metrics ?? [{ Id: 'only', MetricStat: single }];
    const figures = queries.flatMap(({ Id, MetricStat }) => (MetricStat ? [{ Id, ...MetricStat }] : []));
    const [seconds = 0, ...others] = new Set(figures.map(({ Period }) => Period));
    if (others.length > 0) throw new Error(`${id} watches periods of different lengths`);
    return {
      name: withoutHash(id).replace(/^Alarms/, ''),
      seconds,
      threshold: given.Threshold,
      times: given.DatapointsToAlarm ?? given.EvaluationPeriods,
      among: given.EvaluationPeriods,
      silenceRings: given.TreatMissingData === 'breaching',
      watched: Object.fromEntries(
        figures.map(({ Id, Metric, Stat }) => [Id, { label: labelOf(Metric), statistic: Stat }]),
      ),
      expression: queries.find(({ Expression }) => Expression)?.Expression ?? 'only',
    };
  });
}

/** Whether the alarm is in ALARM, after each of the periods. */
export function statesOf(
  { seconds, threshold, times, among, silenceRings, ...alarm }: Alarm,
  figures: readonly Figures[],
) {
  const span = Math.max(1, seconds / 300);
  const periods = Array.from({ length: Math.floor(figures.length / span) }, (_, index) =>
    figures.slice(index * span, (index + 1) * span),
  );
  const reached = periods.map((period) => {
    const value = evaluate(alarm, period);
    return value === undefined ? silenceRings : value >= threshold;
  });
  return reached.map(
    (_, index) => reached.slice(Math.max(0, index + 1 - among), index + 1).filter(Boolean).length >= times,
  );
}

/**
 * Evaluates metric math on the data points of a period. As in CloudWatch, a missing operand counts as 0 beside one that has a
 * value, and a division by 0 has no value: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
 */
function evaluate(
  { watched, expression }: Pick<Alarm, 'watched' | 'expression'>,
  period: readonly Figures[],
): number | undefined {
  const values = Object.values(watched).map(({ label, statistic }) =>
    summarize(
      period.flatMap((figures) => figures[label] ?? []),
      statistic,
    ),
  );
  const missing = values.every((value) => value === undefined) ? Number.NaN : 0;
  const functions = {
    FILL: (value: number, other: number) => (Number.isFinite(value) ? value : other),
    IF: (condition: boolean, one: number, other: number) => (condition ? one : other),
  };
  const compute = new Function(...Object.keys(functions), ...Object.keys(watched), `return ${expression}`);
  const value = compute(...Object.values(functions), ...values.map((one) => one ?? missing));
  return Number.isFinite(value) ? value : undefined;
}

function summarize(values: readonly number[], statistic: string): number | undefined {
  if (statistic === 'SampleCount') return values.length;
  if (values.length === 0) return undefined;
  const sorted = [...values].sort((a, b) => a - b);
  const sum = values.reduce((total, value) => total + value, 0);
  if (statistic === 'Sum') return sum;
  if (statistic === 'Average') return sum / values.length;
  if (statistic === 'Minimum') return sorted[0];
  if (statistic === 'Maximum') return sorted.at(-1);
  if (statistic === 'p90') return sorted[Math.ceil(0.9 * sorted.length) - 1];
  throw new Error(`no such statistic here: ${statistic}`);
}
