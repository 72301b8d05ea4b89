// npm run fuzz -- --inputs 50000 --streams 100000 --seed 1: a longer run of the fuzz tests.
import { readNumbers } from '../support/read-numbers.ts';
import { fuzz } from './run.ts';
import { fuzzStreams } from './streams.ts';

const { inputs, streams, seed } = readNumbers('npm run fuzz --', { inputs: 50_000, streams: 100_000, seed: 1 });
const clock = () => Math.round(performance.now() / 1000);
const streamFaults = fuzzStreams(seed, streams);
console.log(`seed ${seed}: ${streams} streams in ${clock()} s, ${streamFaults.length} faults`);
const startedAt = clock();
const summary = await fuzz(seed, inputs, (sent) => console.log(`${sent} inputs`));
console.log(`seed ${seed}: ${summary.inputs} inputs in ${clock() - startedAt} s, ${summary.faults.length} faults`);
for (const [answer, count] of Object.entries(summary.answers).sort(([, a], [, b]) => b - a)) {
  console.log(`${count}\t${answer}`);
}
for (const fault of [...streamFaults, ...summary.faults]) console.error(fault);
process.exitCode = streamFaults.length + summary.faults.length > 0 ? 1 : 0;
