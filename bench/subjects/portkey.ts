import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { listenLocally } from '../../local/listen-locally.ts';

/* Starts Portkey's gateway on a free port, and prints its address, as all measured servers do here. */

const placeholder = await listenLocally(createServer());
const { port } = new URL(placeholder.url);
await placeholder.close();
process.argv.push(`--port=${port}`, '--headless');
// It sets headers on the response that `fetch` returns, which Node 24 does not allow.
const { fetch } = globalThis;
globalThis.fetch = async (...asked) => {
  const answer = await fetch(...asked);
  return new Response(answer.body, answer);
};

const gateway = join(import.meta.dirname, '../peer/node_modules/@portkey-ai/gateway/build/start-server.js');
await import(pathToFileURL(gateway).href);

const accepts = () =>
  new Promise<boolean>((resolve) => {
    const socket = connect(Number(port), '127.0.0.1', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
while (!(await accepts())) await setTimeout(50);
console.log(`\nlistening on http://127.0.0.1:${port}`);
