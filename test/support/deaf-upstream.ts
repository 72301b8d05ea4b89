import { once } from 'node:events';
import { connect } from 'node:net';
import { Worker } from 'node:worker_threads';
import { turnEventLoop } from './wait-until.ts';

// The thread blocks forever after listening, so that nothing accepts connections from the kernel's backlog.
const listener = `
  const { parentPort } = require('node:worker_threads');
  const server = require('node:net').createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
  });
`;

/** An upstream with a full backlog: a connecting client waits until its own timeout. Linux only. */
export async function startDeafUpstream() {
  const worker = new Worker(listener, { eval: true });
  worker.unref();
  const [port]: number[] = await once(worker, 'message');
  if (port === undefined) throw new Error('the listener named no port');
  // The kernel accepts a connection or two beyond the backlog. The others wait.
  const fillers = Array.from({ length: 16 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  await Promise.all([turnEventLoop(20), Promise.any(fillers.map((filler) => once(filler, 'connect')))]);
  if (fillers.every(({ connecting }) => !connecting)) throw new Error('this system has no limit to its queues');
  return {
    /** A base address where a connection is neither accepted nor refused. */
    url: `http://127.0.0.1:${port}/v1`,
    async [Symbol.asyncDispose]() {
      for (const filler of fillers) filler.destroy();
      await worker.terminate();
    },
  };
}
