import { describe, expect, test } from '@jest/globals';
import { createScanner } from '../../../lambda/json/scan.ts';
import { frameOf, textInFrame } from '../../../lambda/stream/frames.ts';
import { createMarkSheet } from '../../../lambda/stream/marks.ts';
import { questionIn } from '../../support/rewrite.ts';
import { chat, chunk } from '../../support/stream-events.ts';

/** What remains of an event of a chat, less its text. */
function frameAround(data: object, id?: string) {
  const json = createScanner().scan(JSON.stringify(data));
  const sheet = createMarkSheet({});
  chat.openStream(questionIn(chat).asked).readEvent(json, undefined, sheet.marks);
  return frameOf(json, sheet, { type: undefined, data: json.text, id }, { type: undefined, edits: [] });
}

const wire = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
const hello = chunk({ content: 'Hello' }).data;

describe('the frame of an event', () => {
  const frame = frameAround(hello);
  const textIn = (text: string, start = 0) => frame && textInFrame(frame, text, start);

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
