import { expect, test } from '@jest/globals';
import { dialectNamed } from '../../support/rewrite.ts';

test.each([
  ['messages', 'messages.1.content.0: Invalid `signature` in `thinking` block'],
  ['messages', 'messages.3.content.0: The block is bound to a different conversation. Remove the block.'],
  ['messages', '`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.'],
  [
    'messages',
    'When providing `thinking` or `redacted_thinking` blocks, the blocks must match the parameters during it.',
  ],
  ['chat', "Error from provider: Extra inputs are not permitted, field: 'messages[8].reasoning', value: 'Now'"],
  ['chat', "Error from provider: Extra inputs are not permitted, field: 'messages[8].reasoning_content', value: 'Now'"],
])('vendors of %s refuse reasoning with: %s', (name, message) => {
  expect(dialectNamed(name).refusedReasoning?.test(JSON.stringify({ error: { message } }))).toBe(true);
});

test.each([
  ['messages', 'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`.'],
  ['messages', 'thinking: Extra inputs are not permitted'],
  ['chat', "Extra inputs are not permitted, field: 'reasoning_effort'"],
  ['chat', 'The reasoning_content in the thinking mode must be passed back to the API.'],
])('another refusal of a vendor of %s: %s', (name, message) => {
  expect(dialectNamed(name).refusedReasoning?.test(JSON.stringify({ error: { message } }))).toBe(false);
});
