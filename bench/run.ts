// npm run bench: compares the built gateway with two baselines. See docs/performance.md.
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Command, readCommand, usage } from './command.ts';
import { type Figure, figures, measurements } from './figures.ts';
import { findExpensive, renderExpenses } from './profile/expensive.ts';
import { createProfiler } from './profile/profiler.ts';
import { plot } from './report/plot.ts';
import { renderOrigin, renderSpreads, renderTable } from './report/table.ts';
import { addSamples, emptyResults, loadLatest, type Results, save, toRow } from './results.ts';
import { buildSubjects } from './subject.ts';
import { startWorld } from './world/world.ts';

async function measure({ names, rounds }: Command): Promise<Results> {
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
      // Each round starts with another subject, so that none always follows a pause.
      for (let index = 0; index < measured.length; index += 1) {
        const subject = measured[(index + round) % measured.length];
        if (subject) addSamples(results, name, subject.name, await measurement.run(subject, world));
      }
    }
  }
  return results;
}

/** Measures the gateway alone, for the one row. */
async function profile({ title, measurement, sample, gateway = 'gateway' }: Figure): Promise<void> {
  await using world = await startWorld();
  await using folder = await mkdtempDisposable(join(tmpdir(), 'gateway-bench-'));
  const subject = (await buildSubjects(folder.path, world)).find(({ name }) => name === gateway);
  if (!subject) throw new Error(`there is no ${gateway}`);
  const profiler = createProfiler(sample);
  await measurements[measurement].run({ ...subject, profiler }, world);
  if (profiler.profiles.length === 0)
    throw new Error(`${title} is not the time of a step: there is nothing to profile`);
  console.log(`${title} (${gateway})\n\n${renderExpenses(findExpensive(profiler.profiles, 20))}`);
}

async function main(command: Command): Promise<void> {
  if (process.platform !== 'linux')
    throw new Error('The bench reads processor time and memory from /proc: it runs on Linux only.');

  if (command.profile) return profile(command.profile);
  const { names, goals, markdown } = command;
  const fresh = command.last ? undefined : await measure(command);
  const { path, results } = fresh ? { path: await save(fresh), results: fresh } : await loadLatest();
  const shown = figures.filter(({ measurement }) => names.includes(measurement));
  const rows = shown.flatMap((figure) => toRow(figure, results) ?? []);
  if (rows.length === 0) throw new Error(`the latest results, of \`${results.command}\`, hold none of these figures`);
  if (!markdown) console.log(`${renderOrigin(results)}\n`);
  console.log(renderTable(rows, goals));
  console.log(renderSpreads(rows));
  if (markdown) console.log(renderOrigin(results));
  process.stderr.write(`\n${path}\n`);
  if (command.plot) {
    const picture = path.replace(/\.json$/, '.svg');
    await writeFile(picture, plot(shown, results));
    process.stderr.write(`${picture}\n`);
  }
  if (goals && rows.some(({ met }) => met === false)) process.exitCode = 1;
}

function readWords(): Command | undefined {
  try {
    return readCommand(process.argv.slice(2));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`);
    process.exitCode = 2;
    return undefined;
  }
}

const command = readWords();
if (command?.help) console.log(usage);
else if (command) await main(command);
