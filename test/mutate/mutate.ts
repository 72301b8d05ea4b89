// npm run mutate -- PATH: plants small defects one by one and reports those that no test notices. (Stryker works with
// this Jest too, but it removes no single statement or await, changes no numbers, and draws no sample.)
import { readSources } from '../support/imports.ts';
import { type Candidate, listCandidates } from './candidates.ts';
import { readCommand, usage } from './command.ts';
import type { Defect } from './defects.ts';
import { findRelatedTests } from './related-tests.ts';
import { type Run, runTests } from './run-tests.ts';

/** Tests that run before all others, in one process: they catch most defects. */
const nearest = 3;

const sources = readSources(process.cwd(), ['lambda', 'lib', 'local', 'operator', 'bin', 'bench', 'test']);
/** Whether a test passes without a defect; others are left out. */
const sound = new Map<string, boolean>();
/** Tests that noticed a defect in a file run first for the next one in it. */
const watchful = new Map<string, readonly string[]>();

/** The fate of a defect. */
async function tryDefect({ path, defect }: Candidate): Promise<Run> {
  const tests = new Set([...(watchful.get(path) ?? []), ...findRelatedTests(sources, path)]);
  const sure = [...tests].filter((test) => sound.get(test) !== false);
  for (const some of [sure.slice(0, nearest), sure.slice(nearest)]) {
    const run = await runSound(some, path, defect);
    if (run.outcome !== 'passed') return run;
  }
  return { outcome: 'passed' };
}

/** A test may fail among many for lack of time, so it must fail again by itself, and only with the defect. */
async function runSound(tests: readonly string[], path: string, defect: Defect): Promise<Run> {
  const run = await runTests(tests, path, defect);
  if (run.outcome !== 'failed') return run;
  if (run.test === undefined) {
    // Jest itself crashed.
    if ((await runTests(tests)).outcome === 'passed') return run;
    throw new Error(`Jest itself fails on the tests of ${path}.`);
  }
  const again = tests.length > nearest ? await runTests([run.test], path, defect) : run;
  if (again.outcome === 'failed' && (await isSound(run.test))) return run;
  const others = tests.filter((test) => test !== run.test);
  return runSound(others, path, defect);
}

async function isSound(test: string): Promise<boolean> {
  const known = sound.get(test) ?? (await runTests([test])).outcome === 'passed';
  if (!known) console.error(`${test} fails where nothing is planted, and is left out.`);
  sound.set(test, known);
  return known;
}

async function mutate(words: readonly string[]): Promise<number> {
  const { paths, sample, seed, help } = readCommand(words);
  if (help) {
    console.log(usage);
    return 0;
  }
  const candidates = paths.flatMap((path) => listCandidates(path, sample, seed));
  const survivors: Candidate[] = [];
  let hung = 0;
  for (const [index, candidate] of candidates.entries()) {
    const startedAt = performance.now();
    const run = await tryDefect(candidate);
    if (run.outcome === 'failed' && run.test !== undefined) {
      watchful.set(candidate.path, [run.test, ...(watchful.get(candidate.path) ?? [])]);
    }
    if (run.outcome === 'passed') survivors.push(candidate);
    if (run.outcome === 'hung') hung += 1;
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const result = { passed: 'SURVIVED', hung: 'noticed: no end', failed: 'noticed' }[run.outcome];
    const by = run.outcome === 'failed' ? ` by ${run.test}` : '';
    console.log(`${index + 1}/${candidates.length}  ${candidate.name}  ${result}${by} (${seconds} s)`);
  }
  const noticed = candidates.length - survivors.length;
  const share = candidates.length > 0 ? ` (${((100 * noticed) / candidates.length).toFixed(1)} %)` : '';
  console.log(
    `\nseed ${seed}: ${candidates.length} defects, ${noticed} noticed${share}, of these ${hung} without an end`,
  );
  for (const { name } of survivors) console.log(`survived: ${name}`);
  return survivors.length > 0 ? 1 : 0;
}

process.once('SIGINT', () => process.exit(2)).once('SIGTERM', () => process.exit(2));
process.exitCode = await mutate(process.argv.slice(2)).catch((error: Error) => {
  console.error(error instanceof TypeError ? `${error.message}\n\n${usage}` : error.message);
  return 2;
});
