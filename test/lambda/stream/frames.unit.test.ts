import { describe, expect, test } from '@jest/globals';
import { responses } from '../../../lambda/dialects/responses.ts';
import { createScanner } from '../../../lambda/json/scan.ts';
import { fillingOf, frameOf } from '../../../lambda/stream/frames.ts';
import { createMarkSheet } from '../../../lambda/stream/marks.ts';
import { questionIn } from '../../support/rewrite.ts';
import { chat, chunk } from '../../support/stream-events.ts';

/** The rest of an event without its text and number. */
function frameAround(data: object | string, id?: string, dialect = chat) {
  const json = createScanner().scan(typeof data === 'string' ? data : JSON.stringify(data));
  const sheet = createMarkSheet({});
  dialect.openStream(questionIn(dialect).asked).readEvent(json, undefined, sheet.marks);
  return frameOf(json, sheet, { type: undefined, data: json.text, id }, { type: undefined, edits: [] });
}

const wire = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
const hello = chunk({ content: 'Hello' }).data;

describe('the frame of an event', () => {
  const frame = frameAround(hello);
  const textIn = (text: string, start = 0) => frame && fillingOf(frame, text, start)?.literal;

  test('is that of the next, whatever that one says', () => {
    expect(textIn(wire(chunk({ content: ' "you"' }).data))).toBe(JSON.stringify(' "you"'));
    expect(textIn(`${wire(hello)}${wire(hello)}`, wire(hello).length)).toBe('"Hello"');
  });

  test.each([
    ['says nothing', wire(chunk({ content: '' }).data)],
    ['says something besides', wire(chunk({ content: 'you' }, { finish_reason: 'stop' }).data)],
    ['is another from its beginning', wire({ ...chunk({ content: 'you' }).data, id: 'y' })],
    ['has not come whole', wire(hello).slice(0, -1)],
    ['has not come whole, in its text', 'data: {"id":"x","model":"m","choices":[{"index":0,"delta":{"content":"Hel'],
  ])('is not that of an event that %s', (_name, text) => {
    expect(textIn(text)).toBeUndefined();
  });

  test('there is none where an event has more to it than a text', () => {
    expect(frameAround(hello, '7')).toBeUndefined();
    expect(frameAround(chunk({ content: '' }).data)).toBeUndefined();
    expect(frameAround(chunk({ content: 'you' }, { finish_reason: 'stop' }).data)).toBeUndefined();
  });
});

describe('the frame of a numbered event', () => {
  const before = (number: string, delta = '"Hello"') =>
    `{"type":"response.output_text.delta","sequence_number":${number},"output_index":0,"delta":${delta},"logprobs":[]}`;
  const after = (number: string, delta = '"Hello"') =>
    `{"type":"response.output_text.delta","output_index":0,"delta":${delta},"sequence_number":${number}}`;

  describe.each([
    ['before its text', before],
    ['after its text', after],
  ])('with the number %s', (_place, event) => {
    const frame = frameAround(event('7'), undefined, responses);
    const fill = (data: string, start = 0) => frame && fillingOf(frame, `data: ${data}\n\n`, start);

    test('is filled by another text and another number', () => {
      expect(fill(event('8', '" you"'))).toEqual({
        literal: '" you"',
        number: 8,
        end: event('8', '" you"').length + 8,
      });
      expect(fill(event('123456789012345'))).toMatchObject({ number: 123456789012345 });
      expect(fill(event('0'))).toMatchObject({ number: 0 });
    });

    test.each(['', '08', '-1', '1.5', '1e3', '1234567890123456', '"8"', 'null', ' 8'])(
      'is not filled by %s',
      (number) => {
        expect(fill(event(number))).toBeUndefined();
      },
    );

    test('is not filled where anything else differs, or is cut', () => {
      expect(fill(event('8').replace('"output_index":0', '"output_index":1'))).toBeUndefined();
      expect(fill(event('8', '""'))).toBeUndefined();
      const whole = `data: ${event('8')}\n\n`;
      for (let length = 0; length < whole.length; length += 1)
        expect(frame && fillingOf(frame, whole.slice(0, length), 0)).toBeUndefined();
    });
  });
});
