import { expect, test } from '@jest/globals';
import { hiddenNames } from '../../../lambda/settings/telling-names.ts';
import { createScrubber } from '../../../lambda/stream/scrub.ts';
import { testRows } from '../../support/test-rows.ts';
import { upstreamOfThree } from '../../support/upstream-named.ts';

test('the hidden names are model ids, DNS names and those that the operator adds', () => {
  const at = (chat: string, responses: string, messages: string) => ({
    ...upstreamOfThree,
    addresses: { chat, responses, messages, embeddings: chat },
  });
  const second = at('http://localhost:1/v1', 'http://[::1]:1', 'http://box/v1');
  const third = {
    ...at('http://a.localhost/v1', 'http://127.0.0.1:1', 'http://fourth.example'),
    translation: { ...upstreamOfThree.translation, countUrl: 'http://tokens.example/tokenize' },
  };
  expect(hiddenNames([upstreamOfThree, second, third], ['AcmeCorp', 'thunder'])).toEqual([
    ...['AcmeCorp', 'thunder', 'thunder-eyes', 'thunder-r', 'thunder-eyes-r', 'thunder-m', 'thunder-eyes-m'],
    ...['api.acmecorp.example', 'other.acmecorp.example', 'third.acmecorp.example', 'fourth.example'],
    'tokens.example',
  ]);
});

/** The names of an upstream with one model at one host. */
function namesOf(model: string, host: string, operatorNames: readonly string[] = []): string[] {
  const models = { text: model, vision: model };
  const at = `https://${host}/v1`;
  const upstream = {
    ...upstreamOfThree,
    addresses: { chat: at, responses: at, messages: at, embeddings: at },
    models: { chat: models, responses: models, messages: models, embeddings: models },
  };
  return hiddenNames([upstream], operatorNames).filter((name) => name !== model && name !== host);
}

testRows<[model: string, host: string, parts: string[]]>([
  ['deep-7b', 'console.acmeron.com', ['acmeron']],
  ['acmeron/deep-7b-instruct', '127.0.0.1', ['acmeron', 'deep-7b']],
  ['acmeron/deep-7b-chat-20250514', '127.0.0.1', ['acmeron', 'deep-7b']],
  ['us.acmeron.quillon-opus-4-8-v1:0', '127.0.0.1', ['acmeron', 'quillon', 'quillon-opus-4-8-v1']],
  ['zai-org/GLM-4.6', 'api.z.ai', ['zai', 'GLM', 'GLM-4.6']],
  ['kimi-k2.6', 'api.moonshot.ai', ['kimi', 'moonshot']],
  ['Qwen/Qwen3-VL-32B-Instruct', 'models.example', ['Qwen', 'Qwen3-VL-32B']],
  ['gpt-oss:20b', 'acmeron-gpu-7.internal', ['gpt', 'oss', 'gpt-oss', 'acmeron', 'acmeron-gpu-7']],
  ['fast-vision-large', 'inference.eu-central-1.api.aws', []],
  ['text-model', 'models.amazonaws.com', []],
  ['tgi', 'gateway.example', []],
])('without the operator’s names, the parts that tell whose ids and hosts they are', (model, host, parts) => {
  const told = new Set(namesOf(model, host));
  told.delete(model);
  expect(told).toEqual(new Set(parts));
});

test('not where the operator says what to hide', () => {
  expect(namesOf('acmeron/deep-7b-instruct', 'console.acmeron.com', ['deep'])).toEqual(['deep']);
});

test('everyday words are no names', () => {
  const names = namesOf('acmeron/fast-code-vision-7b-instruct', 'api.models.cloud.acmeron.com');
  const text = 'The fast API in the cloud has a vision: code models that instruct. See s3.amazonaws.com.';
  expect(createScrubber(names, 'svc').scrub(text)).toBe(text);
  // Also those that people call a stand-in by.
  expect(namesOf('fake-text', 'mock.primary.stub.test')).toEqual([]);
  // What the dialects themselves call their members, which must arrive.
  expect(namesOf('message-content-model', 'choices.delta.usage.example')).toEqual([]);
});
