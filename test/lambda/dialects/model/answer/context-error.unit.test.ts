import { expect, test } from '@jest/globals';
import { explainContext } from '../../../../../lambda/dialects/model/answer/context-error.ts';
import { translate } from '../../../../../lambda/dialects/translation.ts';
import { createScanner } from '../../../../../lambda/json/scan.ts';
import { type ClientDialect, plainUpstream, sealing } from '../request/translate.ts';

const isOne = (error: object) => explainContext({}, JSON.stringify(error), '') !== undefined;

test.each<[string, object]>([
  [
    'OpenAI',
    { error: { message: 'Too many tokens.', type: 'invalid_request_error', code: 'context_length_exceeded' } },
  ],
  [
    'llama.cpp',
    { error: { code: 400, message: 'request is too large', type: 'exceed_context_size_error', n_ctx: 4096 } },
  ],
  ['vLLM', { object: 'error', message: "This model's maximum context length is 8 tokens. You sent 9.", code: 400 }],
  [
    'a later vLLM',
    { error: { message: 'The prompt (length 9) is longer than the maximum model length of 8.', code: 400 } },
  ],
  ['SGLang', { message: "The input (9 tokens) is longer than the model's context length (8 tokens).", code: 400 }],
  ['Moonshot', { error: { message: 'Your request exceeded model token limit: 8', type: 'invalid_request_error' } }],
  ['TGI', { error: '`inputs` tokens + `max_new_tokens` must be <= 8. Given: 9', error_type: 'validation' }],
])('the error of %s for a request that exceeds the context is recognized', (_server, error) => {
  expect(isOne(error)).toBe(true);
});

test.each<[string, object]>([
  ['a wrong value', { error: { message: 'max_tokens is too large', code: 'invalid_value' } }],
  ['a wrong member', { error: { message: 'context: extra fields not permitted' } }],
  ['nothing', {}],
])('%s is no such error', (_what, error) => {
  expect(isOne(error)).toBe(false);
});

test('agents read it in the form of their dialect', () => {
  const body = '{"code":"context_length_exceeded"}';
  const json = createScanner().scan('{"model":"svc"}');
  const explain = (from: ClientDialect, message: string) => {
    const asked = {
      from,
      into: 'chat',
      sealing,
      upstream: plainUpstream,
      model: 'up-model',
      isCounted: false,
    } as const;
    return explainContext(translate(json, asked).answer.contextWords, body, message);
  };
  const message = 'You sent 9 of 8 tokens.';
  expect(explain('messages', message)).toEqual({ message: 'prompt is too long: You sent 9 of 8 tokens.' });
  expect(explain('messages', 'prompt is too long: 9')).toEqual({ message: 'prompt is too long: 9' });
  expect(explain('messages', '')).toEqual({ message: 'prompt is too long: shorten it' });
  expect(explain('responses', message)).toEqual({ message, shownCode: 'context_length_exceeded' });
});
