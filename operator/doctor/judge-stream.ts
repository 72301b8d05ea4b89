import { z } from 'zod';
import { createSseReader, type SseEvent } from '../../lambda/stream/sse.ts';
import { type Finding, fail, note, ok } from '../examination/row.ts';
import type { DialectProbe } from './dialect-probes.ts';
import { type Arrival, parseJson, quote, type Reply } from './probe.ts';

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
export function judgeStream(reply: Reply, events: readonly TimedEvent[], { isEnd }: DialectProbe): Finding {
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
export function judgeFirstEvent(events: readonly TimedEvent[]): Finding {
  const [first] = events;
  if (!first) return fail('there are no events');
  const text = `after ${Math.round(first.at)} ms`;
  return first.at > slow ? note(`${text}: that is slow`) : ok(text);
}
