import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import runtimeClient from '../local/runtime/runtime-client/package.json' with { type: 'json' };
import project from '../package.json' with { type: 'json' };
import type { Baseline, Figure, MeasurementName } from './figures.ts';
import { median } from './statistics.ts';
import type { SubjectName } from './subject.ts';

type BySubject = Partial<Record<SubjectName, Record<string, number[]>>>;

/** One run of the bench: where it ran, and all its samples. */
export interface Results {
  readonly command: string;
  readonly at: string;
  readonly machine: string;
  /** Of Node and of what the functions are built from and run by. */
  readonly versions: Readonly<Record<string, string>>;
  readonly samples: Partial<Record<MeasurementName, BySubject>>;
}

const versions = {
  Node: process.version,
  esbuild: project.devDependencies.esbuild,
  '@aws-sdk/client-dynamodb': project.dependencies['@aws-sdk/client-dynamodb'],
  'aws-lambda-ric': runtimeClient.dependencies['aws-lambda-ric'],
};

const folder = join(import.meta.dirname, 'results');

export function emptyResults(at: Date): Results {
  const processors = cpus();
  return {
    command: `npm run bench -- ${process.argv.slice(2).join(' ')}`.replace(/ -- $/, ''),
    at: at.toISOString(),
    machine: `${processors.length} × ${processors[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB, ${process.platform} ${process.arch}`,
    versions,
    samples: {},
  };
}

/** Adds the samples of one run of a subject to those of its other runs. */
export function addSamples(
  results: Results,
  measurement: MeasurementName,
  subject: SubjectName,
  found: Readonly<Record<string, readonly number[]>>,
): void {
  const before = results.samples[measurement]?.[subject] ?? {};
  const added = Object.entries(found).map(([name, numbers]) => [name, [...(before[name] ?? []), ...numbers]]);
  results.samples[measurement] = {
    ...results.samples[measurement],
    [subject]: { ...before, ...Object.fromEntries(added) },
  };
}

export async function save(results: Results): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, `${results.at.replaceAll(':', '-')}.json`);
  await writeFile(path, `${JSON.stringify(results, undefined, 1)}\n`);
  return path;
}

/** The results of the latest run. */
export async function loadLatest(): Promise<{ readonly path: string; readonly results: Results }> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.json')).toSorted();
  const latest = names.at(-1);
  if (latest === undefined) throw new Error('there are no results yet: run the bench without --last first');
  const path = join(folder, latest);
  return { path, results: JSON.parse(await readFile(path, 'utf8')) };
}

/** A figure's medians, and the gateway's relative to each baseline's; NaN if not measured. */
export interface Row {
  readonly figure: Figure;
  readonly values: Readonly<Record<Baseline | 'gateway', number>>;
  readonly ratios: Readonly<Record<Baseline, number>>;
  /** Whether the goal is met; undefined if there is none. */
  readonly met: boolean | undefined;
}

/** The row of a figure; undefined if the run did not measure it. */
export function toRow(figure: Figure, results: Results): Row | undefined {
  const bySubject = results.samples[figure.measurement];
  if (!bySubject?.[figure.gateway ?? 'gateway']?.[figure.sample]) return undefined;
  const value = (subject: SubjectName) => median(bySubject[subject]?.[figure.sample] ?? []);
  const values = {
    bare: value(figure.bare ?? 'bare'),
    bareDynamoDb: value('bareDynamoDb'),
    gateway: value(figure.gateway ?? 'gateway'),
  };
  const ratios = { bare: values.gateway / values.bare, bareDynamoDb: values.gateway / values.bareDynamoDb };
  return { figure, values, ratios, met: isMet(figure, values.gateway, ratios) };
}

function isMet({ goal }: Figure, value: number, ratios: Row['ratios']): boolean | undefined {
  if (!goal) return undefined;
  const reached = goal.to === 'nothing' ? value : ratios[goal.to];
  return 'atMost' in goal ? reached <= goal.atMost : reached >= goal.atLeast;
}
