import type { ClientEvent } from '../client-view.ts';

/** One text as it is told in a stream: a run of deltas of one kind. */
export interface Speech {
  readonly kind: string;
  readonly pieces: readonly string[];
}

export interface WireEvent {
  readonly type?: string;
  readonly data: unknown;
}

/** How a dialect tells several texts, and how its clients put them together again. */
export interface Teller {
  readonly kinds: readonly string[];
  /** The events that tell these texts, in order or, by `pick`, with their deltas mixed. */
  tell(speeches: readonly Speech[], pick?: (count: number) => number): WireEvent[];
  /** The same texts as one plain answer. */
  answer(speeches: readonly Speech[]): unknown;
  /** The texts in the order of the speeches. Throws where an event comes in a place that is closed, or tells another text. */
  hear(events: readonly ClientEvent[]): string[];
  hearAnswer(answer: unknown): string[];
}

/** The deltas of several lists in one: each list keeps its order. */
export function mix<T>(lists: readonly (readonly T[])[], pick: (count: number) => number = () => 0): T[] {
  const rests = lists.map((list) => [...list]).filter((list) => list.length > 0);
  const mixed: T[] = [];
  while (rests.length > 0) {
    const at = pick(rests.length);
    const next = rests[at]?.shift();
    if (next !== undefined) mixed.push(next);
    if (rests[at]?.length === 0) rests.splice(at, 1);
  }
  return mixed;
}

/** All that a speech says. */
export const whole = ({ pieces }: Speech) => pieces.join('');

/** An event that is named by its type. */
export const typed = (data: { type: string }): WireEvent => ({ type: data.type, data });

/** The bytes of a stream; with `escaped`, every character beyond ASCII in its escaped spelling. */
export function toWire(events: readonly WireEvent[], escaped = false): Buffer {
  const lines = events.map(({ type, data }) => {
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    const spelt = escaped
      ? text.replace(/[\u0080-\uffff]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
      : text;
    return `${type === undefined ? '' : `event: ${type}\n`}data: ${spelt}\n\n`;
  });
  return Buffer.from(lines.join(''));
}
