import { describe, expect, test } from '@jest/globals';
import { comment, createSseReader, encodeEvent, type SseEvent, SseLimitError } from '../../../lambda/stream/sse.ts';
import fc, { cut } from '../../support/properties.ts';

type Entry = SseEvent | 'comment';

interface Reading {
  readonly log: Entry[];
  readonly unfinished: SseEvent | undefined;
}

function read(chunks: Iterable<Uint8Array>): Reading {
  const log: Entry[] = [];
  const reader = createSseReader({ onEvent: (event) => log.push(event), onComment: () => log.push('comment') });
  for (const chunk of chunks) reader.push(chunk);
  return { log, unfinished: reader.end() };
}

const event = (data: string): SseEvent => ({ type: undefined, id: undefined, data });

describe('any stream, split anywhere', () => {
  const known = 'data: 1\n\n';
  const words = 'data|data:|data: |DATA: |event: a|event|id: 1|id:|: c|:|retry: 1|foo: bar| |x|é|漢|😀|\ufeff|\0'.split(
    '|',
  );
  const texts = [...words, '\n', '\r', '\r\n', '\n\n', known, 'data: 2\r\n\r\n'].map((text) => Buffer.from(text));
  const noUtf8 = ['\xff', '\xe6\xbc'].map((bytes) => Buffer.from(bytes, 'latin1'));
  const stream = fc
    .array(fc.constantFrom(...texts, ...noUtf8), { maxLength: 30 })
    .map((pieces) => Buffer.concat(pieces));

  test('after each chunk, exactly the complete events have been dispatched, or taken raw', () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(200), { maxLength: 12 }), fc.boolean(), (bytes, offsets, takesRaw) => {
        const log: Entry[] = [];
        const reader = createSseReader({
          onEvent: (event) => log.push(event),
          onComment: () => log.push('comment'),
          takeEvent(text, start) {
            if (!takesRaw || !text.startsWith(known, start)) return undefined;
            log.push(event('1'));
            return start + known.length;
          },
        });
        let seen = 0;
        const [counts, due]: [number[], number[]] = [[], []];
        for (const chunk of cut(bytes, offsets)) {
          reader.push(chunk);
          seen += chunk.length;
          counts.push(log.length);
          due.push(readSlowly(bytes.subarray(0, seen)).log.length);
        }
        expect({ log, unfinished: reader.end(), counts }).toEqual({ ...readSlowly(bytes), counts: due });
      }),
      { numRuns: 2000 },
    );
  });

  /** The standard's rules, applied to a whole text line by line. */
  function readSlowly(bytes: Uint8Array): Reading {
    const lines = Buffer.from(bytes)
      .toString()
      .replace(/^\ufeff/, '')
      .split(/\r\n|\r|\n/);
    const cutOff = lines.pop() ?? '';
    const log: Entry[] = [];
    let fields = { data: [] as string[], type: '', id: undefined as string | undefined };
    const dispatch = () => {
      const { data, type, id } = fields;
      fields = { data: [], type: '', id: undefined };
      return data.length > 0 ? { data: data.join('\n'), type: type || undefined, id } : undefined;
    };
    const readLine = (line: string) => {
      const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/su.exec(line) ?? [];
      if (name === 'data') fields.data.push(value);
      if (name === 'event') fields.type = value;
      if (name === 'id' && !value.includes('\0')) fields.id = value;
    };
    for (const line of lines) {
      if (line.startsWith(':')) log.push('comment');
      else if (line === '') log.push(...[dispatch() ?? []].flat());
      else readLine(line);
    }
    readLine(cutOff);
    return { log, unfinished: dispatch() };
  }
});

describe('long events', () => {
  const newReader = (eventBytes?: number) => createSseReader({ onEvent: () => {}, onComment: () => {} }, eventBytes);
  const pushAll = (chunks: string[]) => () => {
    const reader = newReader(100);
    for (const chunk of chunks) reader.push(Buffer.from(chunk));
  };

  test('an event over the limit throws, whatever its bytes are', () => {
    expect(pushAll(['data: ', 'x'.repeat(95)])).toThrow(SseLimitError);
    expect(pushAll(Array(17).fill('data:\n'))).toThrow(SseLimitError);
    expect(pushAll([`event: ${'x'.repeat(50)}\n`, `id: ${'x'.repeat(50)}\n`])).toThrow(SseLimitError);
    expect(pushAll(['foo: ', 'x'.repeat(100)])).toThrow(SseLimitError);
  });

  test('an event within the limit passes, and the next one counts from zero', () => {
    expect(pushAll(['data: ', 'x'.repeat(92), '\n\n'])).not.toThrow();
    expect(pushAll(Array(10).fill(`data: ${'x'.repeat(92)}\n\n`))).not.toThrow();
  });

  test('the limit is 32 MiB by default', () => {
    const reader = newReader();
    reader.push(Buffer.alloc(32 * 1024 * 1024, 'x'));
    expect(() => reader.push(Buffer.from('x'))).toThrow('33554432 bytes');
  });
});

test('an encoded event parses to the same event', () => {
  const line = fc.string({ unit: fc.constantFrom('a', ' ', ':', 'é', '😀', '\ufeff', '\t') });
  const optional = fc.option(
    line.filter((text) => text !== ''),
    { nil: undefined },
  );
  const lines = fc.array(line).map((parts) => parts.join('\n'));
  fc.assert(
    fc.property(fc.array(fc.record({ type: optional, id: optional, data: lines })), (events) => {
      const text = events.map((event) => comment + encodeEvent(event)).join('');
      expect(read([Buffer.from(text)])).toEqual({
        log: events.flatMap((event): Entry[] => ['comment', event]),
        unfinished: undefined,
      });
    }),
  );
});
