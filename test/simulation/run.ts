import type { Subject } from './bundle.ts';
import { drawPlan } from './draw.ts';
import { invariants, judge, type Violation } from './invariants/index.ts';
import { completed, type Plan } from './plan.ts';
import { shrink } from './shrink.ts';
import { type History, runWorld } from './world.ts';

type Counts = Record<string, number>;

/** What a run of many worlds came to. */
interface Run {
  readonly worlds: number;
  readonly requests: number;
  /** How often clients saw what, and how often each fault came. */
  readonly outcomes: Readonly<Counts>;
  readonly faults: Readonly<Counts>;
  /** The plan that broke an invariant. */
  readonly broken?: Plan;
}

interface Running {
  readonly seed: number;
  readonly runs: number;
  /** Says after each world whether to go on. */
  readonly goesOn?: (worlds: number) => boolean;
}

/** Neighbouring seeds draw plans that have nothing in common. */
const seedOf = (seed: number, number: number): number => (seed * 1_000_003 + number) % 2_147_483_647;

/** Runs worlds until one breaks an invariant, or there are enough. */
export async function runWorlds(subject: Subject, { seed, runs, goesOn = () => true }: Running): Promise<Run> {
  const outcomes: Counts = {};
  const faults: Counts = {};
  let [worlds, requests] = [0, 0];
  while (worlds < runs && goesOn(worlds)) {
    worlds += 1;
    const plan = drawPlan(seedOf(seed, worlds));
    const history = await runWorld(subject, plan);
    requests += history.seen.length;
    for (const { status = 'nothing', end } of history.seen) count(outcomes, `${status}, ${end}`);
    for (const fault of faultsIn(history)) count(faults, fault);
    if (judge(history)) return { worlds, requests, outcomes, faults, broken: plan };
  }
  return { worlds, requests, outcomes, faults };
}

function count(counts: Counts, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

function* faultsIn({ plan, tries, store }: History): Generator<string> {
  for (const [kind, times] of Object.entries(store.faults)) for (let at = 0; at < times; at += 1) yield `store ${kind}`;
  for (const { turn } of tries) {
    if (turn.status !== 200) yield `upstream answers ${turn.status}`;
    else if (turn.says !== 'an answer') yield `upstream says ${turn.says}`;
    if (turn.stopsAfter >= 0) yield `upstream stops by ${turn.stops}`;
  }
  for (const { how } of plan.outages) yield `upstream ${how}`;
  if (plan.stopsAt >= 0) yield 'SIGTERM';
  if (plan.diesAt >= 0) yield 'the process dies';
}

/** What the world of a plan breaks. */
export const violationIn = async (subject: Subject, plan: Partial<Plan>): Promise<Violation | undefined> =>
  judge(await runWorld(subject, completed(plan)));

/** Says what a world breaks, and how to see the smallest that breaks the same. */
export async function explain(subject: Subject, plan: Plan): Promise<string> {
  const { invariant = '', what } = (await violationIn(subject, plan)) ?? {};
  const smallest = await shrink(
    plan,
    async (smaller) => (await violationIn(subject, smaller))?.invariant === invariant,
  );
  const found = await violationIn(subject, smallest);
  return [
    `World ${plan.seed} breaks "${invariant}": ${what}`,
    `What holds: ${invariants[invariant]?.sentence}`,
    `The smallest found: npm run simulate -- --world '${JSON.stringify(smallest)}'`,
    `There: ${found?.what}`,
  ].join('\n');
}
