/** What one line says, such as `name{label="value"} 1`. */
interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Family {
  readonly type: string;
  readonly samples: Sample[];
}

const nameOfMetric = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const line = /^([^\s{]+)(?:\{(.*)\})? (\S+)$/;
const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y;

/** Reads Prometheus' text format, and throws at whatever Prometheus or its linter would not take. */
export function readExposition(text: string): ReadonlyMap<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  const families = new Map<string, Family>();
  let current = '';
  let help = '';
  const seen = new Set<string>();
  for (const one of text.slice(0, -1).split('\n')) {
    const [, comment, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(one) ?? [];
    if (comment === 'HELP') help = name;
    else if (comment === 'TYPE') {
      if (help !== name || families.has(name) || !nameOfMetric.test(name)) throw new Error(`out of order: ${one}`);
      if (!/^(counter|gauge|histogram)$/.test(rest)) throw new Error(`no type: ${one}`);
      if ((rest === 'counter') !== name.endsWith('_total')) throw new Error(`only counters end in _total: ${one}`);
      current = name;
      families.set(name, { type: rest, samples: [] });
    } else {
      const sample = readSample(one);
      const { type = '', samples } = families.get(current) ?? {};
      const ofFamily = type === 'histogram' ? /^_(bucket|sum|count)$/ : /^$/;
      if (!sample.name.startsWith(current) || !ofFamily.test(sample.name.slice(current.length))) {
        throw new Error(`not of ${current}: ${one}`);
      }
      const series = seriesOf(sample);
      if (seen.has(series)) throw new Error(`twice: ${series}`);
      seen.add(series);
      samples?.push(sample);
    }
  }
  for (const [name, family] of families) if (family.type === 'histogram') checkHistogram(name, family.samples);
  return families;
}

const seriesOf = ({ name, labels }: Sample): string => `${name} ${JSON.stringify(Object.entries(labels).toSorted())}`;

function readSample(text: string): Sample {
  const [, name = '', inBraces = '', number = ''] = line.exec(text) ?? [];
  const value = number === '+Inf' ? Number.POSITIVE_INFINITY : Number(number);
  if (!nameOfMetric.test(name) || number === '' || Number.isNaN(value)) throw new Error(`no sample: ${text}`);
  const labels: Record<string, string> = {};
  let end = 0;
  for (label.lastIndex = 0; label.lastIndex < inBraces.length; end = label.lastIndex) {
    const [, key = '', quoted = ''] = label.exec(inBraces) ?? [];
    if (key === '' || Object.hasOwn(labels, key)) throw new Error(`no labels: ${text}`);
    labels[key] = quoted.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
  }
  if (end !== inBraces.length) throw new Error(`no labels: ${text}`);
  return { name, labels, value };
}

/** Buckets grow from one bound to the next, and the last one holds all. */
function checkHistogram(name: string, samples: readonly Sample[]): void {
  const withoutBound = ({ le: _, ...labels }: Sample['labels']) => JSON.stringify(Object.entries(labels).toSorted());
  for (const series of Map.groupBy(samples, ({ labels }) => withoutBound(labels)).values()) {
    const of = (part: string) => series.filter((sample) => sample.name === name + part);
    const buckets = of('_bucket').map(
      ({ labels, value }) => [Number(labels.le?.replace('+Inf', 'Infinity')), value] as const,
    );
    const rising = buckets.every(([bound, count], place) => {
      const [before = Number.NEGATIVE_INFINITY, fewer = 0] = buckets[place - 1] ?? [];
      return bound > before && count >= fewer;
    });
    const [last] = buckets.slice(-1);
    const isWhole = of('_sum').length === 1 && of('_count').length === 1 && last?.[0] === Number.POSITIVE_INFINITY;
    if (!rising || !isWhole || last[1] !== of('_count')[0]?.value) throw new Error(`${name} is no histogram`);
  }
}

/** The value of one series, whose labels are exactly these; undefined if there is none. */
export function readValue(text: string, name: string, labels: Sample['labels'] = {}): number | undefined {
  const wanted = seriesOf({ name, labels, value: 0 });
  const samples = [...readExposition(text).values()].flatMap((family) => family.samples);
  return samples.find((sample) => seriesOf(sample) === wanted)?.value;
}
