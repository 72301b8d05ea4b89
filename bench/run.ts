// npm run bench: compares the built gateway with baselines. See docs/performance.md.
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Measurement } from './measurement.ts';
import { events, translatedEvents } from './measurements/events.ts';
import { coldStart, prompt, size, slowReader } from './measurements/process.ts';
import { budgets, busyCaller, requests, serverBudgets } from './measurements/requests.ts';
import { server } from './measurements/server.ts';
import { addSamples, type Results, renderOrigin, renderTable, toRow } from './results.ts';
import { buildSubjects, type Subject } from './subject.ts';
import { startWorld, type World } from './world/world.ts';

const measurements: Readonly<Record<string, Measurement>> = {
  size,
  'cold-start': coldStart,
  requests,
  'busy-caller': busyCaller,
  budgets,
  events,
  'translated-events': translatedEvents,
  prompt,
  'slow-reader': slowReader,
  server,
  'server-budgets': serverBudgets,
};
const all = Object.keys(measurements);

const usage = `npm run bench -- [--only NAME] [--rounds N] [--goals]
  --only NAME   one measurement: ${all.join(', ')}
                (the server is measured only if it is named)
  --rounds N    how often each subject is measured, in turn with the others
  --goals       fails where a goal is missed
  --help        shows this`;

/** Throws a TypeError if an option is wrong. */
function readCommand(args: string[]) {
  const { only, rounds, ...flags } = parseArgs({
    args,
    options: {
      only: { type: 'string', multiple: true },
      rounds: { type: 'string' },
      goals: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  }).values;
  const unknown = only?.filter((name) => !all.includes(name)) ?? [];
  if (unknown.length > 0) throw new TypeError(`no such measurement: ${unknown.join(', ')}`);
  if (rounds !== undefined && !/^[1-9]\d*$/.test(rounds)) throw new TypeError('--rounds takes a number from 1');
  const names = all.filter((name) => only?.includes(name) ?? !name.startsWith('server'));
  return { names, rounds: rounds === undefined ? undefined : Number(rounds), ...flags };
}

/** In so many rounds, or in the measurement's own number of them. */
async function measure(name: string, rounds: number | undefined, subjects: readonly Subject[], world: World) {
  const measurement = measurements[name];
  if (!measurement) return [];
  const results: Results = new Map();
  const measured = subjects.filter((subject) => measurement.subjects.includes(subject.name));
  const count = name === 'size' ? 1 : (rounds ?? measurement.rounds);
  for (let round = 1; round <= count; round += 1) {
    process.stderr.write(`${name}, round ${round} of ${count}\n`);
    // Each round starts with another subject, so that none always follows a pause.
    for (let index = 0; index < measured.length; index += 1) {
      const subject = measured[(index + round) % measured.length];
      if (subject) addSamples(results, subject.name, await measurement.run(subject, world));
    }
  }
  return measurement.figures.map((figure) => toRow(figure, results, measurement.subjects.at(-1)));
}

async function main(words: string[]): Promise<void> {
  const { names, rounds, goals, help } = readCommand(words);
  if (help) return console.log(usage);
  if (process.platform !== 'linux')
    throw new Error('The bench reads processor time and memory from /proc: it runs on Linux only.');
  await using world = await startWorld();
  await using folder = await mkdtempDisposable(join(tmpdir(), 'gateway-bench-'));
  const subjects = await buildSubjects(folder.path, world);
  const rows = [];
  for (const name of names) rows.push(...(await measure(name, rounds, subjects, world)));
  console.log(`${renderOrigin(words, new Date())}\n\n${renderTable(rows)}`);
  if (goals && rows.some(({ met }) => met === false)) process.exitCode = 1;
}

await main(process.argv.slice(2)).catch((error: Error) => {
  if (!(error instanceof TypeError)) throw error;
  console.error(`${error.message}\n\n${usage}`);
  process.exitCode = 2;
});
