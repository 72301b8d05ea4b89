// The bench's upstream, in its own process. It answers every request by the latest script it was sent.
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { type Exchange, head, type Step } from '../../local/upstream/script.ts';
import { startUpstream } from '../../local/upstream/server.ts';
import { chunk, clockedEvent, closing, events, eventsOf, opening, type Script, wholeAnswer } from './answers.ts';

const first = chunk(opening);
const last = chunk(closing);
/** What a stream begins with, its events, and what it ends with, as the latest script wants them. */
let frames = { first, texts: events.map(chunk), last };
const block = Buffer.concat(Array.from({ length: 300 }, (_, index) => chunk(events[index] ?? opening)));

let script: Script = { kind: 'whole' };

const { url } = await startUpstream(async ({ message }) => {
  message.resume();
  await once(message, 'end');
  if (script.kind === 'whole') return [answerWhole];
  // The pieces written to the socket are already chunked; the end adds the last chunk.
  return [head(200, { 'content-type': 'text/event-stream' }), stream(script)];
});

/** Head and body in one packet. */
function answerWhole({ response }: Exchange): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': wholeAnswer.length });
  response.end(wholeAnswer);
}

const stream =
  (wanted: Exclude<Script, { kind: 'whole' }>): Step =>
  ({ socket }) => {
    if (wanted.kind === 'bulk') return writeBulk(socket, wanted.bytes);
    if (wanted.kind === 'clocked') return writeTimes(socket, wanted.pause);
    return writeEvents(socket, wanted.count, wanted.pause, frames);
  };

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
process.send?.({ url });
