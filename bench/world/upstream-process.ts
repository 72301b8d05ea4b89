// The bench's upstream, in its own process. It answers every request with the latest script that it was sent.
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { speakerAt, speakers } from '../../local/upstream/index.ts';
import { type Exchange, eventText, head } from '../../local/upstream/script.ts';
import { startUpstream } from '../../local/upstream/server.ts';
import type { Reply, Speaker } from '../../local/upstream/speaker.ts';
import { tokens, upstreamModel } from './conversation.ts';
import { answerOfVectors } from './vectors.ts';

/** How to answer the next requests, plain or streamed: in the dialect of their path, or as chat completions. */
export type Script =
  | { readonly kind: 'whole' }
  | { readonly kind: 'vectors'; readonly inBase64: boolean }
  /** Events, each in its own write and packet. */
  | { readonly kind: 'events'; readonly count: number }
  /** Events, so many per packet, with a pause before each packet so that the last one has been read. The first pause is longer. */
  | {
      readonly kind: 'packets';
      readonly count: number;
      readonly inPacket: number;
      readonly pause: number;
      readonly lead?: number;
    }
  /** Endless events with a pause before each. Their text is the time of sending. */
  | { readonly kind: 'clocked'; readonly pause: number }
  /** Events as fast as the connection takes them, up to this many bytes. */
  | { readonly kind: 'bulk'; readonly bytes: number };

function replyOf(count: number): Reply {
  const pieces = Array.from({ length: count }, (_, index) => tokens[index % tokens.length] ?? '');
  return {
    answer: { parts: [{ kind: 'text', pieces }], end: 'stop', usage: { input: 24, output: count, reasoning: 0 } },
    body: { stream_options: { include_usage: true } },
    model: upstreamModel,
    id: 'C4qkZ1hT9xw2',
    created: 1795220000,
    marks: { system_fingerprint: 'fp_44709d6fcb' },
  };
}

/** Already in HTTP's chunked encoding, so that sending it costs next to nothing. */
function chunk(text: string): Buffer {
  const size = Buffer.byteLength(text).toString(16);
  return Buffer.from(`${size}\r\n${text}\r\n`);
}

const wholeAnswer = Buffer.from(JSON.stringify(speakers.chat.whole(replyOf(212))));
const count = 300;

/** The events of a dialect. Text events are alike, so a few serve for all. */
function eventsOf(speaker: Speaker) {
  const events = speaker.events(replyOf(count)).map(eventText);
  const begin = events.findIndex((event) => event.includes(`"${tokens[0]}"`));
  const joined = (part: readonly string[]) => Buffer.concat(part.map(chunk));
  const texts = events.slice(begin, begin + count);
  return {
    first: joined(events.slice(0, begin)),
    last: joined(events.slice(begin + count)),
    texts: texts.map(chunk),
    block: joined(texts),
    clocked: texts[0]?.replace(`"${tokens[0]}"`, '" @TIME"') ?? '',
  };
}

const played = new Map<Speaker, ReturnType<typeof eventsOf>>();
for (const speaker of [speakers.chat, speakers.responses, speakers.messages]) played.set(speaker, eventsOf(speaker));

/** Created lazily. */
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
  // What is written to the socket is already chunked. Ending the response adds the last chunk.
  return [head(200, { 'content-type': 'text/event-stream' }), ({ socket }) => stream(socket, wanted, message.url)];
});

/** Head and body in one write. */
const answerWith =
  (body: Buffer) =>
  ({ response }: Exchange): void => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  };

async function stream(socket: Socket, wanted: Exclude<Script, { kind: 'whole' | 'vectors' }>, path = '') {
  const events = played.get(speakerAt(path) ?? speakers.chat);
  if (!events) throw new Error(`nothing is played at ${path}`);
  const { first, texts, block, clocked, last } = events;
  socket.write(first);
  if (wanted.kind === 'events' || wanted.kind === 'packets') {
    // Each in its own turn of the event loop, so that each is a write and, without Nagle's algorithm, a packet.
    const [size, next] =
      wanted.kind === 'events' ? [1, setImmediate] : [wanted.inPacket, () => setTimeout(wanted.pause)];
    if (wanted.kind === 'packets') await setTimeout(wanted.lead);
    for (let index = 0; index < wanted.count; index += size) {
      await next();
      const from = index % (count - size);
      if (!socket.write(Buffer.concat(texts.slice(from, from + size)))) await once(socket, 'drain');
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
