import { describe, expect, test } from '@jest/globals';
import { createDialects } from '../../../lambda/dialects/index.ts';
import { createScanner } from '../../../lambda/json/scan.ts';

const dialects = new Map(createDialects({ signsThinking: false }).map((dialect) => [dialect.name, dialect]));
const find = (name: string, body: object) => dialects.get(name)?.findVision(createScanner().scan(JSON.stringify(body)));
const image = { type: 'image_url', image_url: { url: 'x' } };

describe('content that only a vision model sees, in places off the beaten track', () => {
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
  ])('%s %j', (name, body, path) => {
    expect(find(name, body)).toBe(path);
  });

  test.each([
    ['chat', { messages: [{ role: 'user', content: 'image_url' }], tools: [{ function: { parameters: image } }] }],
    [
      'responses',
      { input: [{ type: 'function_call', arguments: '{"type":"image"}' }], tools: [{ parameters: image }] },
    ],
  ])('%s does not take %j for it', (name, body) => {
    expect(find(name, body)).toBeUndefined();
  });
});
