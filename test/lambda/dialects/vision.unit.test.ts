import { describe, expect, test } from '@jest/globals';
import { createScanner } from '../../../lambda/json/scan.ts';
import { dialectNamed } from '../../support/rewrite.ts';
import { testRows } from '../../support/test-rows.ts';

const find = (name: string, body: object) =>
  dialectNamed(name).searchContent(createScanner().scan(JSON.stringify(body)), { stopsAtVision: true });
const asFile = (name: string, value: string) => ({ type: 'any', [name]: value });
const image = { type: 'image_url', image_url: { url: 'x' } };

describe('images and video in unusual places', () => {
  testRows([
    ['chat', { messages: [{ role: 'assistant', images: [image] }] }, 'messages[0].images[0]'],
    ['chat', { messages: [], prediction: { type: 'content', content: [image] } }, 'prediction.content[0]'],
    [
      'responses',
      { input: [{ type: 'code_interpreter_call', outputs: [{ type: 'image', url: 'x' }] }] },
      'input[0].outputs[0]',
    ],
    ['responses', { input: [{ content: [{ type: 'input_text', text: 'a', image_url: 'x' }] }] }, 'input[0].content[0]'],
    ['responses', { input: [{ type: 'computer_call_output', output: { image_url: 'x' } }] }, 'input[0].output'],
    ['responses', { input: [{ output: { type: 'computer_screenshot', file_id: 'x' } }] }, 'input[0].output'],
    ['responses', { instructions: [{ content: [{ type: 'input_image' }] }] }, 'instructions[0].content[0]'],
    ['messages', { messages: [{ content: [{ type: 'input_image' }] }] }, 'messages[0].content[0]'],
    ['messages', { system: [{ type: 'text', text: 'a' }, { type: 'image' }], messages: [] }, 'system[1]'],
    [
      'chat',
      { messages: [{ content: [{ type: 'file', file: { file_data: 'data:image/png;base64,AA' } }] }] },
      'messages[0].content[0].file',
    ],
    ['responses', { input: [{ content: [asFile('file_data', 'data:video/mp4;base64,AA')] }] }, 'input[0].content[0]'],
    ['responses', { prompt: { variables: { a: asFile('file_data', 'DATA:image/gif,') } } }, 'prompt.variables.a'],
    [
      'messages',
      { messages: [{ content: [{ type: 'document', source: asFile('media_type', 'image/png') }] }] },
      'messages[0].content[0].source',
    ],
  ])('an image in any place', (name, body, path) => {
    expect(find(name, body)).toBe(path);
  });

  testRows([
    ['chat', { messages: [{ content: [{ type: 'text', image_url: null }] }] }],
    ['messages', { messages: [{ content: [{ type: 'text', text: 'a', image_url: '' }] }] }],
    ['chat', { messages: [{ role: 'user', content: 'image_url' }], tools: [{ function: { parameters: image } }] }],
    [
      'responses',
      { input: [{ type: 'function_call', arguments: '{"type":"image"}' }], tools: [{ parameters: image }] },
    ],
    ['chat', { messages: [{ content: [{ type: 'file', file: { file_data: 'data:application/pdf;base64,AA' } }] }] }],
    ['chat', { messages: [{ content: [{ type: 'text', text: 'data:image/png;base64,AA' }] }] }],
    ['responses', { input: [{ content: [asFile('file_data', 'data:text/plain,image/')] }] }],
    [
      'responses',
      { prompt: { variables: { media_type: 'image/png', type: 'video', file_data: 'image/png', image_url: 'a' } } },
    ],
    ['messages', { messages: [{ content: [{ type: 'document', source: asFile('media_type', 'application/pdf') }] }] }],
    ['messages', { messages: [{ content: [{ type: 'tool_use', input: { media_type: 'image/png' } }] }] }],
  ])('and nothing else', (name, body) => {
    expect(find(name, body)).toBeUndefined();
  });
});

describe('a long search', () => {
  test('of an opening reads a thousand messages and parts of them in all', () => {
    const openingOf = (messages: object[]) => {
      const body = createScanner().scan(JSON.stringify({ messages }));
      return dialectNamed('chat').findConversationStart(body).length;
    };
    const content = Array(1_001).fill({ type: 'text', text: 'a' });
    const user = { role: 'user', content };
    expect(openingOf([user])).toBe(999);
    expect(openingOf([...Array(400).fill(user), user])).toBe(999);
    expect(openingOf([...Array(500).fill({}), user])).toBe(499);
    expect(openingOf([...Array(999).fill({}), user])).toBe(0);
  });
});
