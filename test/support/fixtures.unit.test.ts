import { describe, expect, test } from '@jest/globals';
import { parsePython } from './client-view.ts';
import { dialectNames, type Fixture, loadFixtures, readRemarks, type StreamFixture } from './fixtures.ts';
import { findIdentity } from './upstream-identity.ts';

const decode = (bytes: Uint8Array) => new TextDecoder('utf-8', { fatal: true }).decode(bytes);

interface Event {
  readonly event: string | undefined;
  readonly data: string;
}

/** The events of a whole stream, and what follows its last blank line. */
function readEvents(text: string): { events: Event[]; rest: string } {
  const blocks = text.replace(/\r\n?/g, '\n').split('\n\n');
  const rest = blocks.pop() ?? '';
  const events = blocks.flatMap((block) => {
    const lines = block.split('\n').filter((line) => line !== '' && !line.startsWith(':'));
    const fields = lines.map((line) => /^(data|event|id|retry): ?(.*)$/.exec(line) ?? [line, 'unknown', line]);
    expect(fields.filter(([, field]) => field === 'unknown')).toEqual([]);
    const values = (name: string) => fields.filter(([, field]) => field === name).map(([, , value = '']) => value);
    const data = values('data');
    return data.length > 0 ? [{ event: values('event').at(-1), data: data.join('\n') }] : [];
  });
  return { events, rest };
}

const terminalEvent = {
  chat: /"finish_reason":"(?!(error|null)?")|^\[DONE\]$/,
  responses: /"type":"response\.(completed|incomplete)"/,
  messages: /"type":"message_stop"/,
};

/** The value at a path such as `messages[0].content[1]`. */
function valueAt(body: unknown, path: string): unknown {
  const keys = path.match(/[^.[\]]+/g) ?? [];
  return keys.reduce<unknown>((value, key) => Object(value)[key], body);
}

describe.each(dialectNames)('%s', (dialect) => {
  const fixtures = loadFixtures(dialect);
  const named = (kept: (fixture: Fixture) => boolean) =>
    fixtures.filter(kept).map((fixture) => [fixture.file, fixture] as const);
  const isStream = (fixture: Fixture): fixture is StreamFixture => fixture.kind === 'stream';

  test('the index names existing files', () => {
    const files = fixtures.map(({ file }) => file);
    expect(Object.keys(readRemarks(dialect)).filter((file) => !files.includes(file))).toEqual([]);
    expect(new Set(fixtures.map(({ kind }) => kind))).toEqual(new Set(['stream', 'answer', 'error', 'request']));
  });

  test.each(named(({ file }) => file.endsWith('.json')))('%s is JSON', (_, { bytes }) => {
    expect(() => JSON.parse(decode(bytes))).not.toThrow();
  });

  test.each(named(({ kind, bytes }) => kind !== 'request' && bytes.length > 0))(
    '%s names its upstream',
    (_, fixture) => {
      expect(findIdentity(decode(fixture.bytes))).not.toEqual([]);
    },
  );

  test.each(named(({ kind }) => kind === 'request'))('%s is what its remarks say', (_, fixture) => {
    expect(findIdentity(decode(fixture.bytes))).toEqual([]);
    if (fixture.kind !== 'request') return;
    const { file, vision, stateful } = fixture;
    expect([vision !== undefined, stateful !== undefined]).toEqual([/vision-/.test(file), /stateful-/.test(file)]);
    const body = JSON.parse(decode(fixture.bytes));
    if (vision) expect(valueAt(body, vision)).toHaveProperty('type', expect.stringMatching(/image|video|screenshot/));
    if (stateful) expect(body[stateful]).toBeTruthy();
  });

  test.each(named(({ kind }) => kind === 'error'))('%s has a status', (_, fixture) => {
    expect(fixture).toMatchObject({ status: expect.any(Number) });
    expect(fixture).not.toMatchObject({ status: Number.NaN });
  });

  test.each(fixtures.filter(isStream).map((stream) => [stream.file, stream] as const))(
    '%s is an event stream',
    (_, { bytes, terminal, plainError }) => {
      const { events, rest } = readEvents(decode(bytes));
      if (!/^(data: \[DONE\])?$/.test(rest)) expect(terminal).toBe('cut');
      for (const { event, data } of events) {
        if (data.trim() === '[DONE]') continue;
        const { type } = Object(parsePython(data));
        if (event !== undefined && dialect !== 'chat') expect(type).toBe(event);
      }
      expect(events.some(({ data }) => terminalEvent[dialect].test(data))).toBe(
        terminal === 'end' || events.at(-1)?.data === '[DONE]',
      );
      const passedOn = events.filter(
        ({ event, data }) => event !== 'ping' && !/^\{"error"|"response.failed"|"type":"error"/.test(data),
      );
      expect(passedOn.length === 0).toBe(plainError);
    },
  );
});

test('an escaped identity is found, an exempt one is not', () => {
  expect(findIdentity('{"a":"\\u0041cmeCorp","b":"an ACME thing"}')).toHaveLength(2);
  expect(findIdentity('acmeology {"\\"f\\":\\"EXEMPT-AcmeCorp-Thunder/x.ts\\"}')).toEqual([]);
});
