// npm run fuzz -- --inputs 50000 --seed 1: a longer run of the fuzz test.
import { readNumbers } from '../support/read-numbers.ts';
import { fuzz } from './run.ts';

const { inputs, seed } = readNumbers('npm run fuzz --', { inputs: 50_000, seed: 1 });
const startedAt = performance.now();
const summary = await fuzz(seed, inputs, (sent) => console.log(`${sent} inputs`));
const seconds = Math.round((performance.now() - startedAt) / 1000);
console.log(`seed ${seed}: ${summary.inputs} inputs in ${seconds} s, ${summary.faults.length} faults`);
for (const [answer, count] of Object.entries(summary.answers).sort(([, a], [, b]) => b - a)) {
  console.log(`${count}\t${answer}`);
}
for (const fault of summary.faults) console.error(fault);
process.exitCode = summary.faults.length > 0 ? 1 : 0;
