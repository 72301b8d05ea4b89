import { parentPort, workerData } from 'node:worker_threads';

/** A worker thread for tests. Its messages say what to do. */
parentPort?.on('message', ({ name, input }) => {
  if (name === 'echo') parentPort?.postMessage({ value: { input, workerData } });
  if (name === 'die') process.exit(1);
  if (name === 'throw') throw new Error('a defect');
  for (const kept: number[][] = []; name === 'eat'; ) kept.push(Array(100_000).fill(Math.random()));
  for (; name === 'spin'; );
});
