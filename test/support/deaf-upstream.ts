import { once } from 'node:events';
import { connect } from 'node:net';
import { Worker } from 'node:worker_threads';
import { turnEventLoop } from './wait-until.ts';

// Its thread sleeps for ever after listening, so nobody accepts connections from the kernel's queue.
const listener = `
  const { parentPort } = require('node:worker_threads');
  const server = require('node:net').createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
  });
`;

/** An upstream whose queue of connections is full: a client that connects waits until its own time limit. Linux only. */
export async function startDeafUpstream() {
  const worker = new Worker(listener, { eval: true });
  worker.unref();
  const [port]: number[] = await once(worker, 'message');
  if (port === undefined) throw new Error('the listener named no port');
  // The kernel accepts a connection or two more than the queue's length. The others wait for a free place.
  const fillers = Array.from({ length: 16 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  await Promise.all([turnEventLoop(20), Promise.any(fillers.map((filler) => once(filler, 'connect')))]);
  if (fillers.every(({ connecting }) => !connecting)) throw new Error('this system has no limit to its queues');
  return {
    /** A base address on which a connection is neither made nor refused. */
    url: `http://127.0.0.1:${port}/v1`,
    async [Symbol.asyncDispose]() {
      for (const filler of fillers) filler.destroy();
      await worker.terminate();
    },
  };
}
