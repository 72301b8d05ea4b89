// npm run bench: compares the built gateway with baselines. See docs/performance.md.
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import type { Measurement } from './measurement.ts';
import { distance } from './measurements/distance.ts';
import { events, translatedEvents } from './measurements/events.ts';
import { coldStart, prompt, size, slowReader } from './measurements/process.ts';
import { budgets, busyCaller, requests, serverBudgets } from './measurements/requests.ts';
import { server } from './measurements/server.ts';
import { addSamples, type Results, renderOrigin, renderTable, toRow } from './results.ts';
import { buildSubjects, type Subject } from './subject.ts';
import { startWorld, type World } from './world/world.ts';

const measurements = {
  ...{ size, 'cold-start': coldStart, distance, requests, 'busy-caller': busyCaller, budgets, events },
  ...{ 'translated-events': translatedEvents, prompt, 'slow-reader': slowReader },
  ...{ server, 'server-budgets': serverBudgets },
} satisfies Record<string, Measurement>;
type Name = keyof typeof measurements;
const all = Object.keys(measurements) as Name[];

interface Options {
  readonly only: readonly Name[];
  readonly goals?: true;
}

async function measure(name: Name, subjects: readonly Subject[], world: World) {
  const measurement: Measurement = measurements[name];
  const results: Results = new Map();
  const measured = subjects.filter((subject) => measurement.subjects.includes(subject.name));
  for (let round = 1; round <= measurement.rounds; round += 1) {
    process.stderr.write(`${name}, round ${round} of ${measurement.rounds}\n`);
    // Each round starts with another subject, so that none always follows a pause.
    for (const index of measured.keys()) {
      const subject = measured[(index + round) % measured.length];
      if (subject) addSamples(results, subject.name, await measurement.run(subject, world));
    }
  }
  return measurement.figures.map((figure) => toRow(figure, results, measurement.subjects.at(-1)));
}

async function compare({ only, goals }: Options): Promise<void> {
  if (process.platform !== 'linux')
    throw new Error('The bench reads processor time and memory from /proc: it runs on Linux only.');
  await using world = await startWorld();
  await using folder = await mkdtempDisposable(join(tmpdir(), 'gateway-bench-'));
  const subjects = await buildSubjects(folder.path, world);
  const rows = [];
  for (const name of only) rows.push(...(await measure(name, subjects, world)));
  console.log(`${renderOrigin(process.argv.slice(2), new Date())}\n\n${renderTable(rows)}`);
  if (goals && rows.some(({ met }) => met === false)) process.exitCode = 1;
}

await new Command('npm run bench --')
  .addOption(
    new Option('--only <names...>', 'these measurements; the server is measured only so').choices(all).default(
      all.filter((name) => !name.startsWith('server') && name !== 'distance'),
      'all others',
    ),
  )
  .option('--goals', 'fails where a goal is missed')
  .showHelpAfterError()
  .action(compare)
  .parseAsync();
