// npm run simulate -- --runs 5000 --seed 1 [--until 10m] | --world SEED_OR_PLAN | --defects [NAME]
import { Command, InvalidArgumentError } from 'commander';
import { loadSubject } from './bundle.ts';
import { defects } from './defects.ts';
import { drawPlan } from './draw.ts';
import { judge } from './invariants/index.ts';
import { completed, type Plan } from './plan.ts';
import { explain, runWorlds, violationIn } from './run.ts';
import { seedOfToday } from './seed-of-today.ts';
import { runWorld } from './world.ts';

/** The most worlds in which a defect is looked for. */
const mostWorlds = 20_000;

interface Options {
  readonly runs: number;
  readonly seed: number;
  readonly until?: number;
  readonly world?: Plan;
  readonly defects?: string | true;
}

const options = new Command('npm run simulate --')
  .description(
    'Runs the real gateway in worlds where one seed decides all that may vary, and checks what holds in each.',
  )
  .option('--runs <number>', 'how many worlds', Number, 5_000)
  .option('--seed <number>', 'of the run', Number, seedOfToday())
  .option('--until <time>', 'ends after this time at the latest, such as 10m', readTime)
  .option('--world <seed or plan>', 'shows the one world of this seed, or of this plan in JSON', readWorld)
  .option(
    '--defects [name]',
    'finds for each planted defect, or those with this in their name, the first seed that shows it',
  )
  .parse()
  .opts<Options>();

function readTime(text: string): number {
  const [, amount, unit = ''] = /^(\d+)([smh])$/.exec(text) ?? [];
  if (amount === undefined) throw new InvalidArgumentError('such as 30s, 10m or 2h');
  return Number(amount) * ({ s: 1_000, m: 60_000, h: 3_600_000 }[unit] ?? 0);
}

function readWorld(text: string): Plan {
  return text.startsWith('{') ? completed(JSON.parse(text)) : drawPlan(Number(text));
}

if (options.world) await show(options.world);
else if (options.defects) await findDefects(options.defects === true ? '' : options.defects);
else await run(options);

async function run({ seed, runs, until = Number.POSITIVE_INFINITY }: Options): Promise<void> {
  const subject = await loadSubject();
  const begun = performance.now();
  let told = begun;
  const goesOn = (worlds: number) => {
    const now = performance.now();
    if (now - told > 10_000) {
      told = now;
      console.error(`${worlds} worlds`);
    }
    return now - begun < until;
  };
  const { worlds, requests, outcomes, faults, broken } = await runWorlds(subject, { seed, runs, goesOn });
  const seconds = (performance.now() - begun) / 1_000;
  if (broken) {
    console.error(await explain(subject, broken));
    process.exitCode = 1;
  } else console.log({ outcomes, faults });
  const speed = Math.round(worlds / seconds);
  console.log(
    `${worlds} worlds of seed ${seed} with ${requests} requests, ${speed} a second: ${broken ? 'broken' : 'all holds'}`,
  );
}

async function show(plan: Plan): Promise<void> {
  const history = await runWorld(await loadSubject(), plan, true);
  for (const line of history.trace) console.log(line);
  const violation = judge(history);
  console.log(violation ? `breaks "${violation.invariant}": ${violation.what}` : 'all holds');
  if (violation) process.exitCode = 1;
}

async function findDefects(wanted: string): Promise<void> {
  for (const defect of defects.filter(({ name }) => name.includes(wanted))) {
    const subject = await loadSubject(defect);
    let seed = 0;
    let violation: Awaited<ReturnType<typeof violationIn>>;
    while (seed < mostWorlds && !violation) {
      seed += 1;
      violation = await violationIn(subject, drawPlan(seed));
    }
    console.log(`${defect.room}: ${defect.name}: ${violation ? `${seed} "${violation.invariant}"` : 'not found'}`);
  }
}
