import { describe, expect, test } from '@jest/globals';
import { comment, createSseReader, encodeEvent, type SseEvent, SseLimitError } from '../../../lambda/stream/sse.ts';
import fc, { cut } from '../../support/properties.ts';
import { testRows } from '../../support/test-rows.ts';

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

const byByte = (bytes: Uint8Array) => cut(bytes, [...bytes.keys()]);
const event = (data: string, fields: Partial<SseEvent> = {}): SseEvent => ({
  type: undefined,
  id: undefined,
  data,
  ...fields,
});

/** What the random streams below have no pieces for. */
const fixtures: Record<string, { stream: string | Uint8Array; log: Entry[]; unfinished?: SseEvent }> = {
  'characters of every length': { stream: 'data: aé漢😀\ufeff\n\n', log: [event('aé漢😀\ufeff')] },
  'bytes that are no UTF-8': {
    stream: Buffer.from('data: \xff\xe6\xbc\n\ndata: ok\n\n', 'latin1'),
    log: [event('\ufffd\ufffd'), event('ok')],
  },
  'fields that nobody knows': {
    stream: 'retry: 10\nDATA: x\ndatax: x\n data: x\nfoo\nfoo: bar\ndata: 1\n\nretry: 5\n\n',
    log: [event('1')],
  },
  'a character that is cut off': {
    stream: Buffer.from('data: é').subarray(0, -1),
    log: [],
    unfinished: event('\ufffd'),
  },
};

testRows(Object.entries(fixtures))('a stream reads the same whole, byte by byte and cut at any point', (_, fixture) => {
  const { stream, log, unfinished } = fixture;
  const bytes = Buffer.from(stream);
  expect(read(byByte(bytes))).toEqual({ log, unfinished });
  for (let at = 0; at <= bytes.length; at += 1) expect([at, read(cut(bytes, [at]))]).toEqual([at, { log, unfinished }]);
});

describe('any stream cut anywhere', () => {
  const known = 'data: 1\n\n';
  const words = 'data|data:|data: |event: a|event|id: 1|id:|: c|:|retry: 1|foo: bar| |x|é|漢|😀|\ufeff|\0'.split('|');
  const piece = fc.constantFrom(...words, '\n', '\r', '\r\n', '\n\n', known, 'data: 2\r\n\r\n');
  const stream = fc.array(piece, { maxLength: 30 }).map((pieces) => Buffer.from(pieces.join('')));

  test('after each chunk, exactly what is complete has been dispatched, or taken raw', () => {
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
        for (const chunk of cut(bytes, offsets)) {
          reader.push(chunk);
          seen += chunk.length;
          expect(log).toEqual(readSlowly(bytes.subarray(0, seen)).log);
        }
        expect({ log, unfinished: reader.end() }).toEqual(readSlowly(bytes));
      }),
      { numRuns: 2000 },
    );
  });

  /** The standard's rules on a whole text, line by line. */
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

  test('an event beyond the limit throws, however its bytes are spent', () => {
    expect(pushAll(['data: ', 'x'.repeat(95)])).toThrow(SseLimitError);
    expect(pushAll(Array(17).fill('data:\n'))).toThrow(SseLimitError);
    expect(pushAll([`event: ${'x'.repeat(50)}\n`, `id: ${'x'.repeat(50)}\n`])).toThrow(SseLimitError);
    expect(pushAll(['foo: ', 'x'.repeat(100)])).toThrow(SseLimitError);
  });

  test('an event within the limit passes, and each counts from zero', () => {
    expect(pushAll(['data: ', 'x'.repeat(92), '\n\n'])).not.toThrow();
    expect(pushAll(Array(10).fill(`data: ${'x'.repeat(92)}\n\n`))).not.toThrow();
  });

  test('the limit is 32 MiB by default', () => {
    const reader = newReader();
    const mebibyte = Buffer.alloc(1024 * 1024, 'x');
    for (let count = 0; count < 32; count++) reader.push(mebibyte);
    expect(() => reader.push(Buffer.from('x'))).toThrow('33554432 bytes');
  });
});

test('what is written reads the same', () => {
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
