import { z } from 'zod';
import { parseJson } from '../../lambda/settings/read.ts';
import { createSseReader, type SseEvent } from '../../lambda/stream/sse.ts';
import type { DialectProbe } from './dialect-probes.ts';
import { type Arrival, quote, type Reply } from './probe.ts';
import { type Finding, fail, note, ok, untested } from './report.ts';

/** An event, and when its first and its last byte came. */
export interface TimedEvent extends SseEvent {
  readonly begunAt: number;
  readonly at: number;
}

export function readEvents(arrivals: readonly Arrival[]): TimedEvent[] {
  const events: TimedEvent[] = [];
  let at = 0;
  let begunAt = 0;
  const reader = createSseReader({
    onEvent: (event) => {
      events.push({ ...event, begunAt, at });
      begunAt = at;
    },
    onComment: () => {},
  });
  let between = true;
  for (const arrival of arrivals) {
    at = arrival.at;
    if (between) begunAt = at;
    reader.push(arrival.bytes);
    between = /(\n|\r\n?)(\n|\r\n?)$/.test(Buffer.from(arrival.bytes.subarray(-4)).toString('latin1'));
  }
  return events;
}

/** Whether a reply is a stream that came to its dialect's own end. */
export function checkStream(reply: Reply, events: readonly TimedEvent[], { isEnd }: DialectProbe): Finding {
  if (reply.status !== 200) return fail(`answered ${quote(reply)}`);
  const type = reply.headers.get('content-type') ?? 'none';
  if (!type.startsWith('text/event-stream')) return fail(`content-type is ${type}`);
  const encoding = reply.headers.get('content-encoding');
  if (encoding !== null) return fail(`it is compressed (${encoding}), which holds events back`);
  const last = events.at(-1);
  if (!last) return fail('there are no events');
  if (!isEnd(last)) return fail(`it breaks off: its last event is ${last.type ?? ''} ${last.data}`.slice(0, 200));
  const ends = events.filter(isEnd).length;
  if (ends > 1) return fail(`it ends ${ends} times: something on the way repeats events`);
  const gap = findGap(events);
  if (gap !== undefined) return fail(gap);
  return ok(`${events.length} events in ${Math.round(reply.duration)} ms`);
}

/** The events of the responses dialect are numbered, which shows what is lost or out of order. */
function findGap(events: readonly TimedEvent[]): string | undefined {
  const numbers = events.flatMap(({ data }) => numbered.safeParse(parseJson(data)).data?.sequence_number ?? []);
  const index = numbers.findIndex((number, at) => at > 0 && number !== (numbers[at - 1] ?? 0) + 1);
  if (index === -1) return undefined;
  return `event ${numbers[index]} follows event ${numbers[index - 1]}: something on the way loses events or swaps them`;
}

const numbered = z.object({ sequence_number: z.int() });

const slow = 10_000;

/** Whether the first event came soon: until then a person sees nothing. */
export function checkFirstEvent(events: readonly TimedEvent[]): Finding {
  const [first] = events;
  if (!first) return fail('there are no events');
  const text = `after ${Math.round(first.at)} ms`;
  return first.at > slow ? note(`${text}: that is slow`) : ok(text);
}

/** Milliseconds, and numbers of events that bring text. */
const atOnce = 10;
const noticeable = 40;
const held = 100;
const heldEvents = 4;
const fewestEvents = 12;
const fewestBursts = 8;
const fewestCuts = 2;

interface Burst {
  readonly at: number;
  /** The pause before it, without any text; for the first, since the request. */
  readonly pause: number;
  events: number;
}

/**
 * Whether text came piece by piece, as a model writes it. If something on the way buffers it, by time, by size or to the end,
 * many events arrive at once after a pause; no model writes like that. There is no verdict if a stream is too short or too
 * fast, or if text comes two or three pieces at a time, as some models send it.
 */
export function checkPace(text: readonly TimedEvent[]): Finding {
  const longer = 'ask for a longer answer with --length 400';
  if (text.length < fewestEvents) return untested(`${text.length} pieces of text are too few to tell; ${longer}`);
  const bursts = findBursts(text);
  const share = (pause: number, events: number) =>
    bursts.reduce((sum, burst) => sum + (burst.pause >= pause && burst.events >= events ? burst.events : 0), 0) /
    text.length;
  const spread = (text.at(-1)?.at ?? 0) - (text[0]?.at ?? 0);
  const facts = `${text.length} pieces of text in ${bursts.length} steps over ${Math.round(spread)} ms`;
  if (share(held, heldEvents) >= 0.5) {
    const longest = Math.max(...bursts.map(({ pause }) => pause));
    return fail(`${facts}, after pauses of up to ${Math.round(longest)} ms: ${heldBack}`);
  }
  const cuts = text.filter(({ at, begunAt }) => at - begunAt >= noticeable).length;
  if (cuts >= fewestCuts)
    return fail(`${cuts} events came in two halves, far apart: something on the way cuts the stream`);
  if (bursts.length < fewestBursts) return untested(`${facts} are too fast to tell; ${longer}`);
  if (share(noticeable, 2) >= 0.3) return untested(`${facts} are too uneven to tell; run it again, or ${longer}`);
  return ok(facts);
}

const heldBack =
  'something on the way holds the stream back, or the upstream writes like that (ask it directly to see)';

function findBursts(events: readonly TimedEvent[]): readonly Burst[] {
  const bursts: Burst[] = [];
  let lastAt = 0;
  for (const { at } of events) {
    const burst = bursts.at(-1);
    if (burst && at - burst.at <= atOnce) burst.events += 1;
    else bursts.push({ at, pause: at - lastAt, events: 1 });
    lastAt = at;
  }
  return bursts;
}

const keepAliveLine = /^: |^event: ping\r?$/m;

/** Whether streams send keep-alives while the model is silent, as often as the settings say. */
export function checkSilence(
  streams: readonly Reply[],
  { keepAlive: interval }: { readonly keepAlive: number },
): Finding {
  let longest = 0;
  for (const { title, arrivals } of streams) {
    let lastAt = 0;
    for (const { at } of arrivals) {
      if (at - lastAt > 2 * interval)
        return fail(`${title}: nothing came for ${seconds(at - lastAt)}, not a keep-alive`);
      longest = Math.max(longest, at - lastAt);
      lastAt = at;
    }
  }
  // An upstream's own comments become keep-alives as well, so one alone proves nothing.
  const bridged = longest >= 0.9 * interval && streams.some(({ text }) => keepAliveLine.test(text));
  if (bridged) return ok(`no silence lasted longer than ${seconds(longest)}`);
  const facts = `the model was silent for ${seconds(longest)} at most, and a keep-alive comes after ${seconds(interval)}`;
  return untested(`${facts}; run it with a model that thinks for longer`);
}

const seconds = (milliseconds: number) => `${Math.round(milliseconds / 100) / 10} s`;
