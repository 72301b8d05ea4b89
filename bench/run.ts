// npm run bench: compares the built gateway with two baselines. See docs/performance.md.
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { figures, type MeasurementName, measurements } from './figures.ts';
import { addSamples, type Results, renderOrigin, renderTable, toRow } from './results.ts';
import { buildSubjects } from './subject.ts';
import { startWorld } from './world/world.ts';

const all = Object.keys(measurements) as MeasurementName[];

const usage = `npm run bench -- [--only NAME] [--rounds N] [--goals]
  --only NAME   one measurement: ${all.join(', ')}
                (the server is measured only if it is named)
  --rounds N    how often each subject is measured, in turn with the others
  --goals       fails where a goal is missed
  --help        shows this`;

interface Command {
  readonly names: readonly MeasurementName[];
  /** Undefined for each measurement's own number. */
  readonly rounds: number | undefined;
  readonly goals: boolean;
  readonly help: boolean;
}

/** Throws a TypeError if an option is wrong. */
function readCommand(words: readonly string[]): Command {
  const { only, rounds, goals, help } = parseArgs({
    args: [...words],
    options: {
      only: { type: 'string', multiple: true },
      rounds: { type: 'string' },
      goals: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  }).values;
  const unknown = only?.filter((name) => !all.some((one) => one === name)) ?? [];
  if (unknown.length > 0) throw new TypeError(`no such measurement: ${unknown.join(', ')}`);
  if (rounds !== undefined && !/^[1-9]\d*$/.test(rounds)) throw new TypeError('--rounds takes a number from 1');
  const names = all.filter((name) => only?.includes(name) ?? !name.startsWith('server'));
  return { names, rounds: rounds === undefined ? undefined : Number(rounds), goals, help };
}

async function measure({ names, rounds }: Command): Promise<Results> {
  const results: Results = new Map();
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

async function main(words: readonly string[]): Promise<void> {
  const command = readCommand(words);
  if (command.help) return console.log(usage);
  if (process.platform !== 'linux')
    throw new Error('The bench reads processor time and memory from /proc: it runs on Linux only.');
  const results = await measure(command);
  const rows = figures.flatMap((figure) => toRow(figure, results) ?? []);
  console.log(`${renderOrigin(words, new Date())}\n\n${renderTable(rows)}`);
  if (command.goals && rows.some(({ met }) => met === false)) process.exitCode = 1;
}

await main(process.argv.slice(2)).catch((error: Error) => {
  if (!(error instanceof TypeError)) throw error;
  console.error(`${error.message}\n\n${usage}`);
  process.exitCode = 2;
});
