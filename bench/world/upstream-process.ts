// The bench's upstream, in its own process. It answers every request by the latest script it was sent.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { chunk, clockedEvent, closing, events, eventsOf, opening, type Script, wholeAnswer } from './answers.ts';

const first = chunk(opening);
const last = chunk(closing);
/** What a stream begins with, its events, and what it ends with, as the latest script wants them. */
let frames = { first, texts: events.map(chunk), last };
const block = Buffer.concat(Array.from({ length: 300 }, (_, index) => chunk(events[index] ?? opening)));

let script: Script = { kind: 'whole' };

const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0, noDelay: true }, (request, response) => {
  answer(request, response).catch(() => response.destroy());
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  request.resume();
  await once(request, 'end');
  if (script.kind === 'whole') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': wholeAnswer.length });
    response.end(wholeAnswer);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  // The pieces written to the socket are already chunked; `end` adds the last chunk.
  const { socket } = request;
  if (script.kind === 'bulk') await writeBulk(socket, script.bytes);
  else if (script.kind === 'clocked') await writeTimes(socket, script.pause);
  else await writeEvents(socket, script.count, script.pause, frames);
  response.end();
}

function framesOf({ shape = 'chat', count }: Extract<Script, { kind: 'events' }>): typeof frames {
  const made = eventsOf(shape, count);
  return { first: chunk(made.first), texts: made.texts.map(chunk), last: chunk(made.last) };
}

/** Sends each event in its own turn of the event loop, so that each is a write and, without Nagle's algorithm, a packet. */
async function writeEvents(
  socket: Socket,
  count: number,
  pause: number,
  { first, texts, last }: typeof frames,
): Promise<void> {
  const sentAt: number[] = [];
  socket.write(first);
  for (let index = 0; index < count; index += 1) {
    if (pause > 0) await setTimeout(pause);
    else if (index > 0) await setImmediate();
    sentAt.push(clock());
    const text = texts[index % texts.length];
    if (text && !socket.write(text)) await once(socket, 'drain');
  }
  socket.write(last);
  if (pause > 0) process.send?.({ sentAt });
}

async function writeTimes(socket: Socket, pause: number): Promise<void> {
  socket.write(first);
  while (!socket.destroyed) {
    await setTimeout(pause);
    socket.write(chunk(clockedEvent(clock())));
  }
}

async function writeBulk(socket: Socket, bytes: number): Promise<void> {
  socket.write(first);
  for (let size = 0; size < bytes; size += block.length) if (!socket.write(block)) await once(socket, 'drain');
  socket.write(last);
}

/** Milliseconds on a clock shared by all processes of the machine. */
function clock(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

process.on('message', (message: Script) => {
  script = message;
  if (script.kind === 'events') frames = framesOf(script);
  process.send?.({ ready: true });
});
process.once('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ url: `http://127.0.0.1:${port}/v1` });
});
