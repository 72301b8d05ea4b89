import { cpus, totalmem } from 'node:os';
import { type Figure, median, type Samples } from './measurement.ts';
import type { SubjectName } from './subject.ts';

/** All samples of one measurement, by subject and name. */
export type Results = Map<string, number[]>;

export function addSamples(results: Results, subject: string, found: Samples): void {
  for (const [sample, numbers] of Object.entries(found)) {
    results.set(`${subject} ${sample}`, [...(results.get(`${subject} ${sample}`) ?? []), ...numbers]);
  }
}

/** A line of the table, and whether the figure's goal is met; undefined without a goal. */
interface Row {
  readonly cells: readonly string[];
  readonly met: boolean | undefined;
}

const baselines = { bare: 'bare', bareDynamoDb: 'bare + DynamoDB', portkey: 'Portkey' };
const names = Object.values(baselines);
const titles = ['figure', 'unit', ...names, 'gateway', ...names.map((name) => `to ${name}`), 'goal'];

export function toRow([title, unit, sample, goal]: Figure, results: Results, gateway: SubjectName = 'gateway'): Row {
  const medianOf = (subject: SubjectName) => median(results.get(`${subject} ${sample}`) ?? []);
  const value = medianOf(gateway);
  const bare = medianOf(gateway === 'server' ? 'bareServer' : 'bare');
  const found = { bare, bareDynamoDb: medianOf('bareDynamoDb'), portkey: medianOf('portkey') };
  const reached = goal?.to ? value / found[goal.to] : value;
  const met = goal && reached <= goal.bound;
  const of = goal?.to ? `× ${baselines[goal.to]}` : unit;
  const shownGoal = goal ? `≤ ${goal.bound} ${of} ${met ? '✓' : '✗'}` : '';
  const shown = [...Object.values(found), value].map(threeDigits);
  const ratios = Object.values(found).map((one) => (Number.isNaN(one) ? '' : (value / one).toFixed(2)));
  return { cells: [title, unit, ...shown, ...ratios, shownGoal], met };
}

/** The rows as a Markdown table that is also readable in a terminal. */
export function renderTable(rows: readonly Row[]): string {
  const lines = [titles, titles.map(() => '---'), ...rows.map(({ cells }) => cells)];
  const widths = titles.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const pad = (text: string, column: number) => text.padEnd(widths[column] ?? 0);
  return lines.map((line) => `| ${line.map(pad).join(' | ')} |`).join('\n');
}

/** How, when and where the figures were measured. */
export function renderOrigin(words: readonly string[], at: Date): string {
  const [processor, ...others] = cpus();
  const command = ['npm run bench', ...(words.length > 0 ? ['--'] : []), ...words].join(' ');
  const memory = Math.round(totalmem() / 2 ** 30);
  const machine = `${others.length + 1} × ${processor?.model.trim()}, ${memory} GB`;
  return `\`${command}\`, ${at.toISOString().slice(0, 10)}, ${machine}, Node ${process.version}`;
}

function threeDigits(value: number): string {
  if (Number.isNaN(value)) return '';
  const digits = value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(digits, 3));
}
