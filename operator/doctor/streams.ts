import { createSseReader, type SseEvent } from '../../lambda/stream/sse.ts';
import type { DialectProbe } from './dialect-probes.ts';
import { quote, type Reply } from './probe.ts';
import { type Finding, fail, ok, untested } from './report.ts';

/** An event, and how many milliseconds after the request it arrived. */
interface TimedEvent extends SseEvent {
  readonly at: number;
}

export function readEvents({ arrivals }: Pick<Reply, 'arrivals'>): TimedEvent[] {
  const events: TimedEvent[] = [];
  let now = 0;
  const reader = createSseReader({ onEvent: (event) => events.push({ ...event, at: now }), onComment: () => {} });
  for (const { at, bytes } of arrivals) {
    now = at;
    reader.push(bytes);
  }
  return events;
}

/** Whether a reply is a stream with its dialect's final event. */
export function checkStream(reply: Reply, events: readonly TimedEvent[], { isEnd }: DialectProbe): Finding {
  if (reply.status !== 200) return fail(`answered ${quote(reply)}`);
  const type = reply.headers.get('content-type') ?? 'missing';
  if (!type.startsWith('text/event-stream')) return fail(`content-type is ${type}`);
  const encoding = reply.headers.get('content-encoding');
  if (encoding !== null) return fail(`it is compressed (${encoding}), which holds events back`);
  const [first, last] = [events[0], events.at(-1)];
  if (!first || !last) return fail('there are no events');
  if (!isEnd(last)) return fail(`it breaks off: its last event is ${last.type ?? ''} ${last.data}`.slice(0, 200));
  return ok(`${events.length} events, the first after ${Math.round(first.at)} ms`);
}

/** Milliseconds, and numbers of events that bring text. */
const atOnce = 10;
const noticeable = 100;
const heldEvents = 4;
const fewestEvents = 12;
const fewestBursts = 8;

interface Burst {
  readonly at: number;
  /** The pause before it, without any text; for the first, since the request. */
  readonly pause: number;
  events: number;
}

/**
 * Whether text arrived gradually, as the model writes it. If something in between buffers it, by time, by size or entirely,
 * many events arrive at once after a pause. Streams that are too short or too fast get no verdict.
 */
export function checkPace(text: readonly Pick<TimedEvent, 'at'>[]): Finding {
  if (text.length < fewestEvents) return untested(`fewer than ${fewestEvents} pieces of text are too few to tell`);
  const bursts = findBursts(text);
  const facts = `${text.length} pieces of text in ${bursts.length} steps`;
  const held = bursts.filter(({ pause, events }) => pause >= noticeable && events >= heldEvents);
  if (held.reduce((sum, { events }) => sum + events, 0) >= text.length / 2) {
    const longest = Math.round(Math.max(...held.map(({ pause }) => pause)));
    return fail(`${facts}, after pauses of up to ${longest} ms: ${heldBack}`);
  }
  return bursts.length < fewestBursts ? untested(`${facts} are too fast to tell`) : ok(facts);
}

const heldBack =
  'something on the way holds the stream back, or the upstream writes like that (ask it directly to see)';

function findBursts(events: readonly Pick<TimedEvent, 'at'>[]): readonly Burst[] {
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
