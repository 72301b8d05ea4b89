import { parentPort, workerData } from 'node:worker_threads';

/** A thread for tests of threads. Its orders say what it is to do. */
parentPort?.on('message', ({ name, input }) => {
  if (name === 'echo') parentPort?.postMessage({ value: { input, workerData } });
  if (name === 'die') process.exit(1);
  if (name === 'throw') throw new Error('a defect');
  for (const kept: number[][] = []; name === 'eat'; ) kept.push(Array(100_000).fill(Math.random()));
  for (; name === 'spin'; );
});
