import { expect, test } from '@jest/globals';
import { answerPrompt, splitTokens } from '../../../local/demo/answer.ts';
import { createPrompt, type Turn, type Wishes } from '../../../local/upstream/prompt.ts';
import { wholeOf } from '../../../local/upstream/speaker.ts';

const wishes: Wishes = {
  ...{ choices: 1, tools: [], choice: 'auto', parallel: true, format: undefined, thinks: false, stop: [] },
  maxTokens: Number.POSITIVE_INFINITY,
};
const turn = (role: Turn['role'], text: string): Turn => ({ role, text, images: 0, videos: 0 });

/** The text of an answer, or its calls. */
function answerTo(turns: string | readonly Turn[], more: Partial<Wishes> = {}): string {
  const asked = typeof turns === 'string' ? [turn('user', turns)] : turns;
  const { parts } = answerPrompt(createPrompt(asked, { ...wishes, ...more }));
  return parts.map((part) => (part.tool ?? '') + wholeOf(part)).join(' ');
}

const toolNamed = (name: string) => ({ name, schema: { properties: { city: { type: 'string' } } } });
const tools = ['get_time', 'get_weather', 'Bash', 'Write', 'mcp__disk__read-file'].map(toolNamed);
const call = (name: string, city = 'Lisbon') => `${name}{"city":"${city}"}`;

test.each<[text: string, more: Partial<Wishes>, called: string]>([
  ['What is the weather in Oslo?', {}, call('get_weather', 'Oslo')],
  ['What is the weather in both Oslo and Rome?', {}, `${call('get_weather', 'Oslo')} ${call('get_weather', 'Rome')}`],
  ['What is the weather in both Oslo and Rome?', { parallel: false }, call('get_weather', 'Oslo')],
  ['What time is it? Call the tool get_time.', {}, call('get_time')],
  ['Use `Bash` to list the files', {}, call('Bash')],
  ['With the bash tool, list the files', {}, call('Bash')],
  ['call mcp__disk__read-file', {}, call('mcp__disk__read-file')],
  ['Hello', { choice: 'required' }, call('get_time')],
  ['Call get_time', { choice: { name: 'get_weather' } }, call('get_weather')],
])('asked %j (%j) it calls tools: %s', (text, more, called) => {
  expect(answerTo(text, { tools, ...more })).toBe(called);
});

test.each<[text: string, more: Partial<Wishes>]>([
  ['Write a story', {}],
  ['What is a tool, and what can I use it for?', {}],
  ['What time is it?', {}],
  ['The weather?', { choice: 'none' }],
  ['The weather?', { tools: [toolNamed('get_time')] }],
])('asked %j (%j) it calls no tool', (text, more) => {
  expect(answerTo(text, { tools, ...more })).toMatch(/ /);
  expect(answerTo(text, { tools, ...more })).not.toContain('{"');
});

const [question, results] = [turn('user', 'Who are you?'), [turn('tool', 'fog'), turn('tool', 'snow')]];
const reminder = '<system-reminder>\nBe brief.\n</system-reminder>';
const [itself, found] = ['I am Quill-4', 'Here is what I found: fog; snow.'];

test.each<[turns: readonly Turn[], said: string]>([
  [[question, turn('system', 'The weather is fine.')], itself],
  [[turn('user', `${reminder}\nWho are you?`)], itself],
  [[question, turn('user', reminder)], itself],
  [[turn('user', '<environment_context>\n<cwd>/</cwd>\n</environment_context>'), question], itself],
  [[turn('system', 'Be brief.')], 'You said: “”'],
  [[question, ...results], found],
  [[question, ...results, turn('system', 'Be brief.')], found],
  [[question, ...results, turn('user', reminder)], found],
])('it answers what the user said last, or the results of tools, whatever an agent adds: %j', (turns, said) => {
  expect(answerTo(turns, { tools, choice: 'auto' })).toContain(said);
});

test('it does not call tools again for their results', () => {
  expect(answerTo([turn('user', 'The weather?'), ...results], { tools, choice: 'required' })).toBe(found);
});

test('tokens never split a character and lose nothing', () => {
  expect(splitTokens('ab\ncd 😀😀😀😀😀')).toEqual(['ab\nc', 'd 😀😀', '😀😀😀']);
});
