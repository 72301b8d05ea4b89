// npm run soak -- --minutes 10 [--seed 1]: repeats the model-based test, each time with another seed.
import { Command } from 'commander';
import { createWatch } from '../support/watch.ts';
import { runModel } from './run.ts';

const { minutes, seed: firstSeed } = new Command('npm run soak --')
  .description('Sends random requests to a gateway, and compares what it does with a model of the rules.')
  .option('--minutes <number>', 'for how long', Number, 10)
  .option('--seed <number>', 'of the first round', Number, 1)
  .parse()
  .opts<{ readonly minutes: number; readonly seed: number }>();
const watch = createWatch();
const end = performance.now() + minutes * 60_000;
const answers: Record<string, number> = {};
let [requests, counters, budgets, cost, faults, seed] = [0, 0, 0, 0, 0, firstSeed];
let [spent, reported] = [0, 0];

// Loading and compiling happen once, and are not a leak.
await runModel(firstSeed - 1, 500);
const before = await watch.read();
console.log(`start: ${watch.describe(before)}`);
for (; performance.now() < end; seed += 1) {
  for (const [track, summary] of Object.entries(await runModel(seed, 2_000))) {
    requests += summary.requests;
    counters += summary.counters;
    budgets += summary.budgets;
    cost += summary.cost;
    spent += summary.spent;
    reported += summary.reported;
    faults += summary.faults.length;
    for (const [answer, count] of Object.entries(summary.answers)) answers[answer] = (answers[answer] ?? 0) + count;
    for (const fault of summary.faults) console.error(`seed ${seed}, ${track}: ${fault}`);
  }
  console.log(`seed ${seed}: ${requests} requests so far, ${faults} faults; ${watch.describe(await watch.read())}`);
}
const after = await watch.read();
console.log(`end: ${watch.describe(after)}`);
console.log(
  `seeds ${firstSeed} to ${seed - 1}: ${requests} requests that cost ${cost} millionths; ${counters} counters and ${budgets} periods of budgets compared, ${faults} faults`,
);
for (const [answer, count] of Object.entries(answers).sort(([, a], [, b]) => b - a)) console.log(`${count}\t${answer}`);
const share = spent / reported;
console.log(
  `of ${reported} millionths that upstreams reported, also to clients that had left, ${spent} were spent: ${(share * 100).toFixed(1)} %`,
);
const leaks = watch.growth(before, after, 32);
for (const leak of leaks) console.error(leak);
process.exitCode = faults > 0 || leaks.length > 0 || share < 0.95 ? 1 : 0;
