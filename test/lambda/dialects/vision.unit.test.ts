import { describe, expect, test } from '@jest/globals';
import { createDialects } from '../../../lambda/dialects/index.ts';
import { createScanner } from '../../../lambda/json/scan.ts';

const dialects = new Map(
  createDialects({ signsThinking: false, streamUsage: false }).map((dialect) => [dialect.name, dialect]),
);
const find = (name: string, body: object) => dialects.get(name)?.findVision(createScanner().scan(JSON.stringify(body)));
const asFile = (name: string, value: string) => ({ type: 'any', [name]: value });
const image = { type: 'image_url', image_url: { url: 'x' } };

describe('images and video in unusual places', () => {
  test.each([
    ['chat', { messages: [{ role: 'assistant', images: [image] }] }, 'messages[0].images[0]'],
    ['chat', { messages: [], prediction: { type: 'content', content: [image] } }, 'prediction.content[0]'],
    [
      'responses',
      { input: [{ type: 'code_interpreter_call', outputs: [{ type: 'image', url: 'x' }] }] },
      'input[0].outputs[0]',
    ],
    ['responses', { input: [{ content: [{ type: 'input_text', text: 'a', image_url: 'x' }] }] }, 'input[0].content[0]'],
    ['responses', { input: [{ type: 'computer_call_output', output: { image_url: 'x' } }] }, 'input[0].output'],
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
  ])('%s %j', (name, body, path) => {
    expect(find(name, body)).toBe(path);
  });

  test.each([
    ['chat', { messages: [{ role: 'user', content: 'image_url' }], tools: [{ function: { parameters: image } }] }],
    [
      'responses',
      { input: [{ type: 'function_call', arguments: '{"type":"image"}' }], tools: [{ parameters: image }] },
    ],
    ['chat', { messages: [{ content: [{ type: 'file', file: { file_data: 'data:application/pdf;base64,AA' } }] }] }],
    ['chat', { messages: [{ content: [{ type: 'text', text: 'data:image/png;base64,AA' }] }] }],
    ['responses', { input: [{ content: [asFile('file_data', 'data:text/plain,image/')] }] }],
    ['responses', { input: [], prompt: { variables: { media_type: 'image/png' } } }],
    ['messages', { messages: [{ content: [{ type: 'document', source: asFile('media_type', 'application/pdf') }] }] }],
    ['messages', { messages: [{ content: [{ type: 'tool_use', input: { media_type: 'image/png' } }] }] }],
  ])('%s does not take %j for it', (name, body) => {
    expect(find(name, body)).toBeUndefined();
  });
});
