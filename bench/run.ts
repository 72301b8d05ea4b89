// npm run bench: compares the built gateway with baselines. See docs/performance.md.
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { type Measurement, quantile, wallClockSamples } from './measurement.ts';
import { distance } from './measurements/distance.ts';
import { events, translatedChat, translatedMessages } from './measurements/events.ts';
import { oneMachine } from './measurements/one-machine.ts';
import { coldStart, prompt, size, slowReader, vectors } from './measurements/process.ts';
import { budgets, busyCaller, requests, serverBudgets, serverSpans } from './measurements/requests.ts';
import { peer, server } from './measurements/server.ts';
import { addSamples, type Results, renderOrigin, renderTable, toRow } from './results.ts';
import { buildSubjects, type Subject, type SubjectName } from './subject.ts';
import { startWorld, type World } from './world/world.ts';

const measurements = {
  size,
  'cold-start': coldStart,
  distance,
  requests,
  'busy-caller': busyCaller,
  budgets,
  events,
  'translated-chat': translatedChat,
  'translated-messages': translatedMessages,
  prompt,
  vectors,
  'slow-reader': slowReader,
  server,
  'server-budgets': serverBudgets,
  'server-spans': serverSpans,
  peer,
  'one-machine': oneMachine,
} satisfies Record<string, Measurement>;
type Name = keyof typeof measurements;
const all = Object.keys(measurements) as Name[];

interface Options {
  readonly only: readonly Name[];
  readonly goals?: true;
  readonly against?: string;
}

/** Measures the subjects in turn. Each one's samples are stored under its name in this map. */
async function measure(name: Name, subjects: ReadonlyMap<string, Subject>, world: World): Promise<Results> {
  const measurement: Measurement = measurements[name];
  const results: Results = new Map();
  const measured = [...subjects].filter(([, subject]) => measurement.subjects.includes(subject.name));
  for (let round = 1; round <= measurement.rounds; round += 1) {
    process.stderr.write(`${name}, round ${round} of ${measurement.rounds}\n`);
    // Each round starts with another subject, so that none always follows a pause.
    const first = round % measured.length;
    const order = [...measured.slice(first), ...measured.slice(0, first)];
    if ('runTogether' in measurement) {
      const found = await measurement.runTogether(
        order.map(([, subject]) => subject),
        world,
      );
      for (const [at, [called]] of order.entries()) addSamples(results, called, found[at] ?? {});
    } else for (const [called, subject] of order) addSamples(results, called, await measurement.run(subject, world));
  }
  return results;
}

/** The most that this gateway may take relative to the other. */
const maxRatioToOther = 1.1;

/** Measures each of these figures for this checkout and for another one. */
async function compareWithOther(checkout: string, only: readonly Name[], folder: string, world: World): Promise<void> {
  const names = only.flatMap((name) => subjectsOf(name).slice(-1));
  const ours = await buildSubjects(names, join(folder, 'gateway'), world);
  const others = await buildSubjects(names, join(folder, 'other'), world, checkout);
  for (const name of only) {
    const measurement: Measurement = measurements[name];
    const both = Object.entries({ gateway: ours, other: others }).flatMap(([called, built]) =>
      built
        .filter((subject) => subject.name === measurement.subjects.at(-1))
        .map((subject) => [called, subject] as const),
    );
    const results = await measure(name, new Map(both), world);
    // Other load on the machine only ever adds to a sample, so compare the lowest. Of very many short samples the lowest are
    // luck.
    const share = 'runTogether' in measurement ? 0.25 : 0;
    for (const [title, unit, sample] of measurement.figures) {
      const [here, there] = ['gateway', 'other'].map((one) => quantile(results.get(`${one} ${sample}`) ?? [], share));
      const ratio = Number(here) / Number(there);
      console.log(`${title}: ${here?.toFixed(2)} ${unit}, there ${there?.toFixed(2)}: ${ratio.toFixed(2)}`);
      if (!wallClockSamples.has(sample) && !(ratio <= maxRatioToOther)) process.exitCode = 1;
    }
  }
}

const subjectsOf = (name: Name): readonly SubjectName[] => measurements[name].subjects;

async function compare({ only, goals, against }: Options): Promise<void> {
  if (process.platform !== 'linux')
    throw new Error('The bench reads processor time and memory from /proc: it runs on Linux only.');
  await using world = await startWorld();
  await using folder = await mkdtempDisposable(join(tmpdir(), 'gateway-bench-'));
  if (against !== undefined) return await compareWithOther(against, only, folder.path, world);
  const built = await buildSubjects(only.flatMap(subjectsOf), folder.path, world);
  const subjects = new Map(built.map((subject) => [subject.name, subject]));
  const rows = [];
  for (const name of only) {
    const results = await measure(name, subjects, world);
    rows.push(...measurements[name].figures.map((figure) => toRow(figure, results, subjectsOf(name).at(-1))));
  }
  console.log(`${renderOrigin(process.argv.slice(2), new Date())}\n\n${renderTable(rows)}`);
  if (goals && rows.some(({ met }) => met === false)) process.exitCode = 1;
}

await new Command('npm run bench --')
  .addOption(
    new Option(
      '--only <names...>',
      'run only these measurements; server, server-*, distance, peer and one-machine run only if named',
    )
      .choices(all)
      .default(
        all.filter((name) => !name.startsWith('server') && !['distance', 'peer', 'one-machine'].includes(name)),
        'all others',
      ),
  )
  .option('--goals', 'exit with 1 if a goal is missed')
  .option(
    '--against <checkout>',
    `compare with the gateway of another checkout; exit with 1 if this one takes over ${maxRatioToOther} times as much (wall-clock figures don’t count)`,
  )
  .showHelpAfterError()
  .action(compare)
  .parseAsync();
