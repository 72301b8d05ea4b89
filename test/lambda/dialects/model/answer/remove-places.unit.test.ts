import { expect } from '@jest/globals';
import { removePlaces } from '../../../../../lambda/dialects/model/answer/remove-places.ts';
import { testRows } from '../../../../support/test-rows.ts';

testRows([
  ["messages.1.content.0.tool_use.id: String should match pattern '^a$'", "String should match pattern '^a$'"],
  ['messages: roles must alternate', 'roles must alternate'],
  ['tools.0.custom.input_schema: JSON schema is invalid.', 'JSON schema is invalid.'],
  ['max_tokens: 9000 > 8192, which is the most', '9000 > 8192, which is the most'],
  ['max_tokens must be greater than thinking.budget_tokens.', 'max_tokens must be greater than (place removed).'],
  ["Invalid 'messages[1].content[0].text': a string", "Invalid '(place removed)': a string"],
  ['The value at body.messages[3].content, tools[12] is bad', 'The value at (place removed), (place removed) is bad'],
  // Members that the client's body has, too, and plain words.
  ['temperature: range: 0..1', 'temperature: range: 0..1'],
  ['prompt is too long: 9 tokens', 'prompt is too long: 9 tokens'],
  ['Too many messages. The tools are many; stop.', 'Too many messages. The tools are many; stop.'],
  ['', ''],
])('a client reads no path of a body that it has not written', (message, shown) => {
  expect(removePlaces(message)).toBe(shown);
});
