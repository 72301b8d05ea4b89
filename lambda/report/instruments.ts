/** Label values by name. Callers must not be able to choose a value, because each new one is another series in memory. */
export type Labels = Readonly<Record<string, string>>;

export interface Instrument {
  /** Its lines in Prometheus' text format: https://prometheus.io/docs/instrumenting/exposition_formats */
  render(): string;
}

/** A counter. Without labels it starts at 0, because Prometheus does not see the increase from absent to the first value. */
export function createCounter(name: string, help: string, isLabelled = false) {
  const values = new Map<string, number>(isLabelled ? [] : [['', 0]]);
  return {
    add(amount: number, labels: Labels = {}): void {
      const series = renderLabels(labels);
      values.set(series, (values.get(series) ?? 0) + amount);
    },
    render: () => renderMetric('counter', name, help, [...values]),
  };
}

/** A metric whose value is read at each scrape. */
export function createObservable(
  type: 'counter' | 'gauge',
  name: string,
  help: string,
  read: () => number | readonly (readonly [Labels, number])[],
): Instrument {
  return {
    render() {
      const found = read();
      const values = typeof found === 'number' ? [['', found] as const] : found;
      const series = values.map(([labels, value]) => [labels === '' ? '' : renderLabels(labels), value] as const);
      return renderMetric(type, name, help, series);
    },
  };
}

interface Series {
  readonly labels: Labels;
  /** Values per bucket, not cumulative; the last bucket has no upper bound. */
  readonly counts: number[];
  sum: number;
}

/** A histogram with these upper bounds. */
export function createHistogram(name: string, help: string, bounds: readonly number[]) {
  const all = new Map<string, Series>();
  const renderSeries = ({ labels, counts, sum }: Series): string[] => {
    let count = 0;
    const buckets = [...bounds, '+Inf'].map((bound, place) => {
      count += counts[place] ?? 0;
      return `${name}_bucket${renderLabels({ ...labels, le: String(bound) })} ${count}`;
    });
    const own = renderLabels(labels);
    return [...buckets, `${name}_sum${own} ${sum}`, `${name}_count${own} ${count}`];
  };
  return {
    observe(value: number, labels: Labels): void {
      const key = renderLabels(labels);
      const series = all.get(key) ?? { labels, counts: Array(bounds.length + 1).fill(0), sum: 0 };
      all.set(key, series);
      const place = bounds.findIndex((bound) => value <= bound);
      const bucket = place < 0 ? bounds.length : place;
      series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
      series.sum += value;
    },
    render: () => [renderHead('histogram', name, help), ...[...all.values()].flatMap(renderSeries)].join('\n'),
  };
}

function renderMetric(type: string, name: string, help: string, values: readonly (readonly [string, number])[]) {
  return [renderHead(type, name, help), ...values.map(([labels, value]) => `${name}${labels} ${value}`)].join('\n');
}

const renderHead = (type: string, name: string, help: string): string =>
  `# HELP ${name} ${help}\n# TYPE ${name} ${type}`;

/** Leaves out empty labels, which Prometheus treats as absent. */
function renderLabels(labels: Labels): string {
  const pairs = Object.entries(labels).filter(([, value]) => value !== '');
  return pairs.length === 0 ? '' : `{${pairs.map(([name, value]) => `${name}="${escapeValue(value)}"`).join(',')}}`;
}

const escapeValue = (value: string): string => value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n');
