import { describe, expect, test } from '@jest/globals';
import { answerPrompt, splitTokens } from '../../../local/demo/answer.ts';
import { createPrompt, type Turn, type Wishes } from '../../../local/upstream/prompt.ts';
import { wholeOf } from '../../../local/upstream/speaker.ts';

const tool = (name: string) => ({ name, schema: { properties: { city: { type: 'string' } } } });

const wishes: Wishes = {
  choices: 1,
  tools: [],
  choice: 'auto',
  parallel: true,
  format: undefined,
  thinks: false,
  maxTokens: Number.POSITIVE_INFINITY,
  stop: [],
};
const turn = (role: Turn['role'], text: string): Turn => ({ role, text, images: 0, videos: 0 });

function answerTurns(turns: readonly Turn[], more: Partial<Wishes> = {}) {
  const { parts, ...rest } = answerPrompt(createPrompt(turns, { ...wishes, ...more }));
  const ofKind = (kind: string) => parts.filter((part) => part.kind === kind);
  return {
    ...rest,
    text: ofKind('text').map(wholeOf).join(),
    reasoning: ofKind('reasoning').map(wholeOf).join(),
    calls: ofKind('call').map((call) => ({ name: call.tool, arguments: wholeOf(call) })),
  };
}

const answer = (text: string, more?: Partial<Wishes>, results: readonly string[] = []) =>
  answerTurns([turn('user', text), ...results.map((result) => turn('tool', result))], more);

const calledBy = (...parameters: Parameters<typeof answer>) => answer(...parameters).calls.map((call) => call.name);

describe('calls tools', () => {
  const tools = [tool('get_time'), tool('get_weather')];

  test('only when asked', () => {
    expect(calledBy('Hello', { tools })).toEqual([]);
    expect(calledBy('The weather?', { tools })).toEqual(['get_weather']);
    expect(calledBy('Please call get_time', { tools })).toEqual(['get_time']);
    expect(calledBy('The weather?', { tools: [] })).toEqual([]);
    expect(calledBy('The weather?', { tools: [tool('get_time')] })).toEqual([]);
  });

  const asked: [text: string, called: string[]][] = [
    ['call get_time', ['get_time']],
    ['Use the get_time tool, please', ['get_time']],
    ['I want you to invoke `get_time` now', ['get_time']],
    ['Run the function get time', ['get_time']],
    ['use Bash to list the files', ['Bash']],
    ['With the bash tool, list the files', ['Bash']],
    ['call mcp__disk__read-file', ['mcp__disk__read-file']],
    ['use web search', ['webSearch']],
    ['Call get_time and get_weather', ['get_time', 'get_weather']],
    ['Write a long story', []],
    ['What is a tool, and what can I use it for?', []],
    ['What time is it?', []],
    ['Use your own words', []],
  ];
  test('whose name stands in what it is asked', () => {
    const named = ['get_time', 'get_weather', 'Bash', 'Write', 'mcp__disk__read-file', 'webSearch', 'own'].map(tool);
    expect(asked.map(([text]) => [text, calledBy(text, { tools: named })])).toEqual(asked);
    expect(asked.map(([text]) => [text, calledBy(text, { tools: named, parallel: false })])).toEqual(
      asked.map(([text, called]) => [text, called.slice(0, 1)]),
    );
  });

  test('as tool_choice says', () => {
    expect(calledBy('The weather?', { tools, choice: 'none' })).toEqual([]);
    expect(calledBy('Hello', { tools, choice: 'required' })).toEqual(['get_time']);
    expect(calledBy('Hello', { tools, choice: { name: 'get_weather' } })).toEqual(['get_weather']);
  });

  test('two at once, unless parallel calls are switched off', () => {
    const text = 'Weather and time in both Oslo and Rome';
    expect(answer(text, { tools }).calls).toEqual([
      { name: 'get_time', arguments: '{"city":"Oslo"}' },
      { name: 'get_weather', arguments: '{"city":"Rome"}' },
    ]);
    expect(calledBy(text, { tools, parallel: false })).toEqual(['get_time']);
  });

  test('never after a result, which it repeats instead', () => {
    const { calls, text } = answer('The weather?', { tools, choice: 'required' }, ['fog', 'snow']);
    expect(calls).toEqual([]);
    expect(text).toContain('fog; snow');
  });
});

describe('answers the last message of the user', () => {
  const told = (...turns: Turn[]) => answerTurns(turns).text;

  test('without what an agent adds to it', () => {
    const question = turn('user', 'Who are you?');
    for (const turns of [
      [question, turn('system', 'The weather in /home is fine.')],
      [turn('user', '<system-reminder>\nBe brief.\n</system-reminder>\nWho are you?')],
      [question, turn('user', '<system-reminder>Today is Monday.</system-reminder>')],
      [turn('user', '<environment_context>\n<cwd>/</cwd>\n</environment_context>'), question],
    ]) {
      expect(told(...turns)).toMatch(/^I am Quill-4/);
    }
    expect(told(turn('system', 'Be brief.'))).toContain('You said: “”');
  });

  test('or the result of its tools, whatever an agent adds', () => {
    const turns = [turn('user', 'The weather?'), turn('assistant', ''), turn('tool', 'fog')];
    expect(told(...turns)).toContain('fog');
    expect(told(...turns, turn('system', 'Be brief.'))).toContain('fog');
    expect(told(...turns, turn('user', '<system-reminder>Be brief.</system-reminder>'))).toContain('fog');
  });
});

test('tokens never split a character and lose nothing', () => {
  const text = 'ab\ncd 😀😀😀😀😀';
  expect(splitTokens(text)).toEqual(['ab\nc', 'd 😀😀', '😀😀😀']);
});

test('tells stories of two lengths, and who it is', () => {
  const words = (text: string) => answer(text).text.split(/\s+/).length;
  expect(words('Tell me a short story.')).toBeGreaterThan(40);
  expect(words('Write a long story.')).toBeGreaterThan(400);
  expect(answer('Who are you?').text).toMatch(/^I am Quill-4/);
});
