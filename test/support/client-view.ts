/** How a client sees a stream. Shares no code with the gateway, so that a bug there can't hide itself here. */
export interface ClientEvent {
  readonly type: string | undefined;
  readonly id: string | undefined;
  readonly data: string;
  /** Parsed; undefined for `[DONE]`. */
  readonly value: unknown;
  /** The offset after the event and its blank line. */
  readonly end: number;
}

/** The events of a whole stream. Anything after the last blank line is not an event. */
export function readEvents(stream: string, parse: (data: string) => unknown = JSON.parse): ClientEvent[] {
  const events: ClientEvent[] = [];
  let start = stream.startsWith('\ufeff') ? 1 : 0;
  for (const blank of stream.matchAll(/(\r\n|\r|\n)(\r\n|\r|\n)+/g)) {
    const end = blank.index + blank[0].length;
    const lines = stream.slice(start, end).split(/\r\n|\r|\n/);
    const field = (name: string) =>
      lines.flatMap((line) => (line.startsWith(`${name}:`) ? line.slice(name.length + 1).replace(/^ /, '') : []));
    const data = field('data').join('\n');
    const value = data === '' || data.trim() === '[DONE]' ? undefined : parse(data);
    if (data !== '') events.push({ type: field('event').at(-1), id: field('id').at(-1), data, value, end });
    start = end;
  }
  return events;
}

/** Parses what Python prints: NaN and the infinities, which are not JSON, become null. */
export function parsePython(data: string): unknown {
  return JSON.parse(data.replace(/(?<=[[:,]\s*)-?(NaN|Infinity)(?=\s*[,\]}])/g, 'null'));
}

/** The comments of a stream. */
export function readComments(stream: string): string[] {
  return stream.split(/\r\n|\r|\n/).filter((line) => line.startsWith(':'));
}

/** Joins deltas as a client does: the texts at the same place in all events (the same type, item, block, part or choice). */
export function joinTexts(values: readonly unknown[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const value of values) {
    const root = Object(value);
    const place = [root.type, root.output_index, root.content_index ?? root.summary_index, root.index].join(',');
    for (const [path, text] of readStrings(value, place)) texts.set(path, (texts.get(path) ?? '') + text);
  }
  return texts;
}

/** Every string and object key, with its path. Array elements are identified by their `index`, if they have one. */
export function* readStrings(value: unknown, path = ''): Generator<[path: string, text: string]> {
  if (typeof value === 'string') yield [path, value];
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (!Array.isArray(value)) yield [`${path}.keys`, `${name} `];
    const step = Array.isArray(value) ? (Object(member).index ?? name) : name;
    yield* readStrings(member, `${path}.${step}`);
  }
}
