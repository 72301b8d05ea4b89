import { cpus, totalmem } from 'node:os';
import runtimeClient from '../local/runtime/runtime-client/package.json' with { type: 'json' };
import project from '../package.json' with { type: 'json' };
import type { Figure } from './figures.ts';
import { median, type Samples } from './measurements/measurement.ts';
import type { SubjectName } from './subject.ts';

/** All samples of a run, by measurement, subject and name. */
export type Results = Map<string, readonly number[]>;

const keyOf = (measurement: string, subject: SubjectName, sample: string) => `${measurement} ${subject} ${sample}`;

export function addSamples(results: Results, measurement: string, subject: SubjectName, found: Samples): void {
  for (const [sample, numbers] of Object.entries(found)) {
    const key = keyOf(measurement, subject, sample);
    results.set(key, [...(results.get(key) ?? []), ...numbers]);
  }
}

/** A line of the table, and whether the figure's goal is met; undefined if it has none. */
interface Row {
  readonly cells: readonly string[];
  readonly met: boolean | undefined;
}

const titles = ['figure', 'unit', 'bare', 'bare + DynamoDB', 'gateway', 'to bare', 'to bare + DynamoDB', 'goal'];

/** The row of a figure; undefined if the run did not measure it. */
export function toRow(figure: Figure, results: Results): Row | undefined {
  const { title, unit, gateway = 'gateway', goal } = figure;
  const medianOf = (subject: SubjectName) =>
    median(results.get(keyOf(figure.measurement, subject, figure.sample)) ?? []);
  const value = medianOf(gateway);
  if (Number.isNaN(value)) return undefined;
  const bare = medianOf(gateway === 'server' ? 'bareServer' : 'bare');
  const bareDynamoDb = medianOf('bareDynamoDb');
  const ratios = { bare: value / bare, bareDynamoDb: value / bareDynamoDb };
  const reached = goal && (goal.to ? ratios[goal.to] : value);
  const met = goal && reached !== undefined && (goal.atLeast === true ? reached >= goal.bound : reached <= goal.bound);
  const shown = [bare, bareDynamoDb, value].map(threeDigits);
  return {
    cells: [title, unit, ...shown, ratio(ratios.bare), ratio(ratios.bareDynamoDb), describeGoal(figure, met)],
    met,
  };
}

function describeGoal({ goal, unit }: Figure, met: boolean | undefined): string {
  if (!goal) return '';
  const of = goal.to ? `× ${goal.to === 'bare' ? 'bare' : 'bare + DynamoDB'}` : unit;
  return `${goal.atLeast ? '≥' : '≤'} ${goal.bound} ${of} ${met ? '✓' : '✗'}`;
}

/** The rows as a Markdown table that is also readable in a terminal. */
export function renderTable(rows: readonly Row[]): string {
  const lines = [titles, ...rows.map(({ cells }) => cells)];
  const widths = titles.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const pad = (text: string, column: number) =>
    column < 2 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0);
  const rule = widths.map((width, column) => (column < 2 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  const [head = '', ...body] = lines.map((line) => `| ${line.map(pad).join(' | ')} |`);
  return [head, `| ${rule.join(' | ')} |`, ...body].join('\n');
}

/** Where, when and with what the figures were measured. */
export function renderOrigin(words: readonly string[], at: Date): string {
  const [processor, ...others] = cpus();
  const versions = {
    Node: process.version,
    esbuild: project.devDependencies.esbuild,
    '@aws-sdk/client-dynamodb': project.dependencies['@aws-sdk/client-dynamodb'],
    'aws-lambda-ric': runtimeClient.dependencies['aws-lambda-ric'],
  };
  const command = ['npm run bench', ...(words.length > 0 ? ['--'] : []), ...words].join(' ');
  const memory = Math.round(totalmem() / 2 ** 30);
  const machine = `${others.length + 1} × ${processor?.model.trim()}, ${memory} GB, ${process.platform} ${process.arch}`;
  const what = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `\`${command}\`, ${at.toISOString().slice(0, 10)}, ${machine}\n${what.join(', ')}`;
}

function ratio(value: number): string {
  return Number.isNaN(value) ? '' : value.toFixed(2);
}

function threeDigits(value: number): string {
  if (Number.isNaN(value)) return '';
  const digits = value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(digits, 3));
}
