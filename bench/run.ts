// npm run bench: measures the built gateway against two baselines. See docs/performance.md.
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { figures, type MeasurementName, measurements } from './figures.ts';
import { plot } from './report/plot.ts';
import { renderOrigin, renderTable } from './report/table.ts';
import { addSamples, emptyResults, loadLatest, type Results, save, toRow } from './results.ts';
import { buildSubjects } from './subject.ts';
import { startWorld } from './world/world.ts';

const usage = `npm run bench -- [--only NAME] [--rounds N] [--goals] [--markdown] [--plot] [--last]
  --only NAME   one measurement: ${Object.keys(measurements).join(', ')}
  --rounds N    how often each function is measured, in turn with the others
  --goals       marks each figure that has a goal, and fails where one is missed
  --markdown    prints the table as it stands in docs/performance.md
  --plot        draws every sample into an SVG beside the results
  --last        shows the latest results instead of measuring
  --help        shows this`;

interface Choice {
  readonly names: readonly MeasurementName[];
  readonly rounds: number | undefined;
}

async function measure({ names, rounds }: Choice): Promise<Results> {
  const results = emptyResults(new Date());
  await using world = await startWorld();
  await using folder = await mkdtempDisposable(join(tmpdir(), 'gateway-bench-'));
  const subjects = await buildSubjects(folder.path, world);
  for (const name of names) {
    const measurement = measurements[name];
    const wanted: readonly string[] = measurement.subjects;
    const measured = subjects.filter((subject) => wanted.includes(subject.name));
    const count = Math.min(rounds ?? measurement.rounds, name === 'size' ? 1 : Number.POSITIVE_INFINITY);
    for (let round = 1; round <= count; round += 1) {
      process.stderr.write(`${name}, round ${round} of ${count}\n`);
      // Each round begins with another subject, so that none is always the one after a pause.
      for (let index = 0; index < measured.length; index += 1) {
        const subject = measured[(index + round) % measured.length];
        if (subject) addSamples(results, name, subject.name, await measurement.run(subject, world));
      }
    }
  }
  return results;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true },
      rounds: { type: 'string' },
      goals: { type: 'boolean', default: false },
      markdown: { type: 'boolean', default: false },
      plot: { type: 'boolean', default: false },
      last: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return;
  }
  const all = Object.keys(measurements) as MeasurementName[];
  const names = all.filter((name) => values.only?.includes(name) ?? true);
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
  if (names.length < (values.only?.length ?? 1)) throw new TypeError(`no such measurement: ${values.only}`);
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds > 0))
    throw new TypeError('--rounds takes a number from 1');
  if (process.platform !== 'linux')
    throw new Error('The bench reads processor time and memory from /proc: it runs on Linux only.');

  const fresh = values.last ? undefined : await measure({ names, rounds });
  const { path, results } = fresh ? { path: await save(fresh), results: fresh } : await loadLatest();
  const shown = figures.filter(({ measurement }) => names.includes(measurement));
  const rows = shown.flatMap((figure) => toRow(figure, results) ?? []);
  if (!values.markdown) console.log(`${renderOrigin(results)}\n`);
  console.log(renderTable(rows, values.goals));
  if (values.markdown) console.log(`\n${renderOrigin(results)}`);
  process.stderr.write(`\n${path}\n`);
  if (values.plot) {
    const picture = path.replace(/\.json$/, '.svg');
    await writeFile(picture, plot(shown, results));
    process.stderr.write(`${picture}\n`);
  }
  if (values.goals && rows.some(({ met }) => met === false)) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  const isUsage = error instanceof TypeError;
  console.error(isUsage ? `${error.message}\n\n${usage}` : error);
  process.exitCode = isUsage ? 2 : 1;
}
