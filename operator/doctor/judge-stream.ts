import { createSseReader, type SseEvent } from '../../lambda/stream/sse.ts';
import type { DialectProbe } from './dialect-probes.ts';
import { quote, type Reply } from './probe.ts';
import { type Finding, fail, note, ok } from './row.ts';

/** An event, and when its last byte came. */
export interface TimedEvent extends SseEvent {
  readonly at: number;
}

export function readEvents({ arrivals }: Pick<Reply, 'arrivals'>): TimedEvent[] {
  const events: TimedEvent[] = [];
  let at = 0;
  const reader = createSseReader({ onEvent: (event) => events.push({ ...event, at }), onComment: () => {} });
  for (const arrival of arrivals) {
    at = arrival.at;
    reader.push(arrival.bytes);
  }
  return events;
}

/** Whether a reply is a stream that came to its dialect's own end. */
export function judgeStream(reply: Reply, events: readonly TimedEvent[], { isEnd }: DialectProbe): Finding {
  if (reply.status !== 200) return fail(`answered ${quote(reply)}`);
  const type = reply.headers.get('content-type') ?? 'none';
  if (!type.startsWith('text/event-stream')) return fail(`content-type is ${type}`);
  const last = events.at(-1);
  if (!last) return fail('there are no events');
  if (!isEnd(last)) return fail(`it breaks off: its last event is ${last.type ?? ''} ${last.data}`.slice(0, 200));
  return ok(`${events.length} events in ${Math.round(reply.duration)} ms`);
}

/** Events that come closer together than this have come at once. */
const atOnce = 5;
const fewestEvents = 8;
const fewestSteps = 4;
const leastSpread = 50;
const lateShare = 0.8;

/**
 * Whether the events came one after the other while the model wrote. What something on the way has held back comes in one
 * burst, at the end; a long line delivers a burst of this size in three steps at most, as TCP begins slowly. A stream may
 * also be too short, or its model too fast, to tell: that is no fault.
 */
export function judgeIncremental(events: readonly TimedEvent[]): Finding {
  const [first] = events;
  const last = events.at(-1);
  if (!first || !last || events.length < fewestEvents) return note(`too short to tell: ${events.length} events`);
  const steps = events.filter(({ at }, index) => index === 0 || at - (events[index - 1]?.at ?? 0) > atOnce).length;
  const spread = last.at - first.at;
  const facts = `${events.length} events in ${steps} steps over ${Math.round(spread)} ms`;
  if (steps >= fewestSteps && spread >= leastSpread) return ok(facts);
  if (first.at >= last.at * lateShare) {
    return fail(`${facts}, the first after ${Math.round(first.at)} ms: something on the way holds the stream back`);
  }
  return note(`too fast to tell: ${facts}`);
}

const slow = 10_000;

/** How long a person looks at nothing. */
export function judgeFirstEvent(events: readonly TimedEvent[]): Finding {
  const [first] = events;
  if (!first) return fail('there are no events');
  const text = `after ${Math.round(first.at)} ms`;
  return first.at > slow ? note(`${text}: that is slow`) : ok(text);
}
