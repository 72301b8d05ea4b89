/** A metric as named in a template. */
export interface MetricName {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: unknown }[];
}

export interface MetricStore {
  /** Records a figure that was sent in a minute. */
  add(minute: number, metric: MetricName, value: number): void;
  /** One statistic over the minutes from `from` up to `to`; undefined if nothing was sent. */
  read(metric: MetricName, statistic: string, from: number, to: number): number | undefined;
  /** Whether any figure was ever sent. */
  has(metric: MetricName): boolean;
}

export function createMetricStore(): MetricStore {
  const sent = new Map<string, number[][]>();
  // An alarm makes the same queries again every minute.
  const known = new Map<MetricName, Map<string, number | undefined>>();
  return {
    add(minute, metric, value) {
      const minutes = sent.get(nameOf(metric)) ?? [];
      sent.set(nameOf(metric), minutes);
      minutes[minute] ??= [];
      minutes[minute].push(value);
      known.clear();
    },
    read(metric, statistic, from, to) {
      const answers = known.get(metric) ?? new Map();
      known.set(metric, answers);
      const question = `${statistic} ${from} ${to}`;
      if (!answers.has(question)) {
        const values = (sent.get(nameOf(metric)) ?? []).slice(Math.max(0, from), Math.max(0, to)).flat();
        answers.set(question, values.length === 0 ? undefined : summarize(values, statistic));
      }
      return answers.get(question);
    },
    has: (metric) => sent.has(nameOf(metric)),
  };
}

function nameOf({ Namespace, MetricName: name, Dimensions = [] }: MetricName): string {
  return JSON.stringify([Namespace, name, Dimensions.map(({ Name, Value }) => [Name, Value])]);
}

function summarize(values: readonly number[], statistic: string): number {
  const sum = () => values.reduce((total, value) => total + value, 0);
  const [, percent] = /^p(\d+(?:\.\d+)?)$/.exec(statistic) ?? [];
  if (percent !== undefined) {
    const sorted = [...values].sort((a, b) => a - b);
    return sorted[Math.max(0, Math.ceil((Number(percent) / 100) * sorted.length) - 1)] ?? Number.NaN;
  }
  if (statistic === 'Sum') return sum();
  if (statistic === 'SampleCount') return values.length;
  if (statistic === 'Average') return sum() / values.length;
  if (statistic === 'Minimum') return Math.min(...values);
  if (statistic === 'Maximum') return Math.max(...values);
  throw new Error(`no such statistic here: ${statistic}`);
}
