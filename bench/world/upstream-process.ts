// The bench's upstream, in its own process. It answers every request by the latest script it was sent.
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { type Exchange, head } from '../../local/upstream/script.ts';
import { startUpstream } from '../../local/upstream/server.ts';
import { clockedEvent, type Events, eventsOf, type Script, wholeAnswer } from './answers.ts';

/** A piece of a body already in HTTP's chunked coding, so that sending it costs next to nothing. */
function chunk(text: string): Buffer {
  const size = Buffer.byteLength(text).toString(16);
  return Buffer.from(`${size}\r\n${text}\r\n`);
}

const chunksOf = ({ first, texts, last }: Events) => {
  return { first: chunk(first), texts: texts.map(chunk), last: chunk(last) };
};
const plain = chunksOf(eventsOf('chat', 300));
const block = Buffer.concat(plain.texts);

let script: Script = { kind: 'whole' };
let frames = plain;

const { url } = await startUpstream(async ({ message }) => {
  message.resume();
  await once(message, 'end');
  const wanted = script;
  if (wanted.kind === 'whole') return [answerWhole];
  // What is written to the socket is already chunked; the end adds the last chunk.
  return [head(200, { 'content-type': 'text/event-stream' }), ({ socket }) => stream(socket, wanted, frames)];
});

/** Head and body in one packet. */
function answerWhole({ response }: Exchange): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': wholeAnswer.length });
  response.end(wholeAnswer);
}

async function stream(
  socket: Socket,
  wanted: Exclude<Script, { kind: 'whole' }>,
  { first, texts, last }: typeof frames,
) {
  socket.write(first);
  if (wanted.kind === 'events') {
    // Each in its own turn of the event loop, so that each is a write and, without Nagle's algorithm, a packet.
    for (let index = 0; index < wanted.count; index += 1) {
      if (index > 0) await setImmediate();
      const text = texts[index % texts.length];
      if (text && !socket.write(text)) await once(socket, 'drain');
    }
  } else if (wanted.kind === 'bulk') {
    for (let size = 0; size < wanted.bytes; size += block.length) {
      if (!socket.write(block)) await once(socket, 'drain');
    }
  } else {
    while (!socket.destroyed) {
      await setTimeout(wanted.pause);
      // On a clock shared by all processes of the machine.
      socket.write(chunk(clockedEvent(Number(process.hrtime.bigint()) / 1e6)));
    }
  }
  socket.write(last);
}

process.on('message', (message: Script) => {
  script = message;
  // A chat's events are alike: a few serve for all.
  if (script.kind === 'events') frames = script.shape ? chunksOf(eventsOf(script.shape, script.count)) : plain;
  process.send?.({ ready: true });
});
process.once('disconnect', () => process.exit());
process.send?.({ url });
