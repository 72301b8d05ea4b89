import { eventText } from '../../../local/upstream/script.ts';

/** A text in a stream: a run of deltas of one kind. */
export interface Speech {
  readonly kind: string;
  readonly pieces: readonly string[];
}

export interface WireEvent {
  readonly type?: string;
  readonly data: unknown;
}

/** Interleaves the deltas of several lists, keeping the order of each. */
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

/** The bytes of a stream; with `escaped`, non-ASCII characters are escaped. */
export function toWire(events: readonly WireEvent[], escaped = false): Buffer {
  const text = events.map(({ type, data }) => eventText({ ...(type && { event: type }), data })).join('');
  const spell = (one: string) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return Buffer.from(escaped ? text.replace(/[\u0080-\uffff]/g, spell) : text);
}
