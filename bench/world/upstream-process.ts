// The bench's upstream, in its own process. It answers every request by the latest script it was sent.
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { speakers } from '../../local/upstream/index.ts';
import { type Exchange, eventText, head } from '../../local/upstream/script.ts';
import { startUpstream } from '../../local/upstream/server.ts';
import type { Reply } from '../../local/upstream/speaker.ts';
import { tokens, upstreamModel } from './conversation.ts';
import { answerOfVectors } from './vectors.ts';

/** How the upstream answers the next requests: with chat completions, whole or as a stream. */
export type Script =
  | { readonly kind: 'whole' }
  /** Many long vectors. */
  | { readonly kind: 'vectors'; readonly inBase64: boolean }
  /** Events, each in its own write and packet. */
  | { readonly kind: 'events'; readonly count: number }
  /** Endless events with a pause before each. Their text is the time of sending. */
  | { readonly kind: 'clocked'; readonly pause: number }
  /** Events as fast as the connection takes them, up to this many bytes. */
  | { readonly kind: 'bulk'; readonly bytes: number };

function replyOf(count: number): Reply {
  const pieces = Array.from({ length: count }, (_, index) => tokens[index % tokens.length] ?? '');
  return {
    answer: { parts: [{ kind: 'text', pieces }], end: 'stop', usage: { input: 24, output: count, reasoning: 0 } },
    body: { stream_options: { include_usage: true } },
    ...{ model: upstreamModel, id: 'C4qkZ1hT9xw2', created: 1795220000 },
    marks: { system_fingerprint: 'fp_44709d6fcb' },
  };
}

/** A piece of a body already in HTTP's chunked coding, so that sending it costs next to nothing. */
function chunk(text: string): Buffer {
  const size = Buffer.byteLength(text).toString(16);
  return Buffer.from(`${size}\r\n${text}\r\n`);
}

const wholeAnswer = Buffer.from(JSON.stringify(speakers.chat.whole(replyOf(212))));
const count = 300;
const events = speakers.chat.events(replyOf(count)).map(eventText);
const [clocked = ''] = events.slice(1).map((event) => event.replace(`"${tokens[0]}"`, '" @TIME"'));
const [first = '', ...rest] = events.map(chunk);
// A chat's events are alike: a few serve for all.
const [texts, last] = [rest.slice(0, count), Buffer.concat(rest.slice(count))];
const block = Buffer.concat(texts);

/** Made when they are first asked for. */
const made = new Map<boolean, Buffer>();
const vectors = (inBase64: boolean): Buffer => {
  const known = made.get(inBase64) ?? answerOfVectors(inBase64);
  made.set(inBase64, known);
  return known;
};

let script: Script = { kind: 'whole' };

const { url } = await startUpstream(async ({ message }) => {
  message.resume();
  await once(message, 'end');
  const wanted = script;
  if (wanted.kind === 'whole') return [answerWith(wholeAnswer)];
  if (wanted.kind === 'vectors') return [answerWith(vectors(wanted.inBase64))];
  // What is written to the socket is already chunked; the end adds the last chunk.
  return [head(200, { 'content-type': 'text/event-stream' }), ({ socket }) => stream(socket, wanted)];
});

/** Head and body in one write. */
const answerWith =
  (body: Buffer) =>
  ({ response }: Exchange): void => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  };

async function stream(socket: Socket, wanted: Exclude<Script, { kind: 'whole' | 'vectors' }>) {
  socket.write(first);
  if (wanted.kind === 'events') {
    // Each in its own turn of the event loop, so that each is a write and, without Nagle's algorithm, a packet.
    for (let index = 0; index < wanted.count; index += 1) {
      if (index > 0) await setImmediate();
      if (!socket.write(texts[index % count] ?? '')) await once(socket, 'drain');
    }
  } else if (wanted.kind === 'bulk') {
    for (let size = 0; size < wanted.bytes; size += block.length) {
      if (!socket.write(block)) await once(socket, 'drain');
    }
  } else {
    while (!socket.destroyed) {
      await setTimeout(wanted.pause);
      // On a clock shared by all processes of the machine.
      socket.write(chunk(clocked.replace('TIME', (Number(process.hrtime.bigint()) / 1e6).toFixed(3))));
    }
  }
  socket.write(last);
}

process.on('message', (message: Script) => {
  script = message;
  process.send?.({ ready: true });
});
process.once('disconnect', () => process.exit());
process.send?.({ url });
