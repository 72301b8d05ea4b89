import { describe, expect, test } from '@jest/globals';
import { createFindings } from '../../../lambda/dialects/findings.ts';
import { createScanner } from '../../../lambda/json/scan.ts';
import { createMakeTemplate, readHoles } from '../../../lambda/stream/event-template.ts';
import { formatOf, scrubber } from '../../support/rewrite.ts';
import { chat, chunk } from '../../support/stream-events.ts';
import { testRows } from '../../support/test-rows.ts';

/** The template of the last of these events. */
function templateOf(
  events: readonly (object | string)[],
  { id, dialect = chat }: { id?: string; dialect?: typeof chat } = {},
) {
  const scanner = createScanner();
  const found = createFindings({});
  const stream = dialect.openStream(formatOf(dialect).expected);
  const make = createMakeTemplate();
  const templates = events.map((data) => {
    const json = scanner.scan(typeof data === 'string' ? data : JSON.stringify(data));
    found.clear();
    stream.readEvent(json, undefined, found);
    return make(json, found, { type: undefined, data: json.text, id }, { type: undefined, edits: [] });
  });
  return templates.at(-1);
}

const wire = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
const hello = chunk({ content: 'Hello' }).data;

describe('the template of an event', () => {
  const template = templateOf([hello]);
  const textIn = (text: string, start = 0) => template && readHoles(template, text, start, scrubber)?.values[0];

  test('is that of the next, whatever that one says', () => {
    expect(textIn(wire(chunk({ content: ' "you"' }).data))).toBe(JSON.stringify(' "you"'));
    expect(textIn(`${wire(hello)}${wire(hello)}`, wire(hello).length)).toBe('"Hello"');
  });

  testRows([
    ['says nothing', wire(chunk({ content: '' }).data)],
    ['says something besides', wire(chunk({ content: 'you' }, { finish_reason: 'stop' }).data)],
    ['is another from its beginning', wire({ ...chunk({ content: 'you' }).data, id: 'y' })],
    ['has not come whole', wire(hello).slice(0, -1)],
    ['has not come whole, in its text', 'data: {"id":"x","model":"m","choices":[{"index":0,"delta":{"content":"Hel'],
  ])('is not that of an event of another kind', (_name, text) => {
    expect(textIn(text)).toBeUndefined();
  });

  test('there is none where an event has more to it than texts', () => {
    expect(templateOf([hello], { id: '7' })).toBeUndefined();
    expect(templateOf([chunk({ content: '' }).data])).toBeUndefined();
    expect(templateOf([chunk({ content: 'you' }, { finish_reason: 'stop' }).data])).toBeUndefined();
  });
});

describe('values that no dialect looks at', () => {
  const one = (content: string, filling: string, rest: object = {}) => ({
    ...chunk({ content }).data,
    obfuscation: filling,
    ...rest,
  });
  const usage = (output: number, total = output + 9) => ({
    usage: { prompt_tokens: 9, completion_tokens: output, total_tokens: total },
  });
  const fill = (events: readonly object[], next: object) => {
    const template = templateOf(events);
    if (!template) throw new Error('no template');
    return readHoles(template, wire(next), 0, scrubber)?.values;
  };

  test('are holes as soon as two events differ in them, and stay so', () => {
    expect(fill([one('a', 'x')], one('b', 'yz'))).toBeUndefined();
    expect(fill([one('a', 'x'), one('b', 'yz')], one('c', ''))).toEqual(['"c"', '""']);
    expect(fill([one('a', 'x'), one('b', 'yz'), one('c', 'yz')], one('d', 'z'))).toEqual(['"d"', '"z"']);
    const times = [0.5, 12].map((ms) => one('a', 'x', { timings: { ms } }));
    for (const ms of ['-1', '0.25', '1e-7', '12'])
      expect(fill(times, one('b', 'x', { timings: { ms: Number(ms) } }))).toEqual(['"b"', ms]);
  });

  test('are counted where they are tokens', () => {
    const events = [one('a', 'x', usage(1)), one('b', 'x', usage(2))];
    expect(fill(events, one('c', 'x', usage(3)))).toEqual(['"c"', '3', '12']);
    expect(templateOf(events)?.holes.map(({ place }) => place)).toEqual([
      { kind: 'text', channel: '0/answer/delta/content/', family: '0/answer/delta/content' },
      { kind: 'count', of: 'output' },
      { kind: 'number' },
    ]);
    for (const count of [-1, 1.5, '3', null, 10 ** 15])
      expect(fill(events, one('c', 'x', { usage: { ...usage(3).usage, completion_tokens: count } }))).toBeUndefined();
  });
});
