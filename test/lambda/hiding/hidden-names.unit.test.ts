import { expect, test } from '@jest/globals';
import { hiddenNames } from '../../../lambda/hiding/hidden-names.ts';
import { createScrubber } from '../../../lambda/hiding/scrub.ts';
import type { Upstream } from '../../../lambda/settings/read-upstreams.ts';
import { dialectNames, loadFixtures } from '../../support/fixtures.ts';
import { testRows } from '../../support/test-rows.ts';
import { upstreamOfThree } from '../../support/upstream-named.ts';

test('the hidden names are model ids, DNS names and the operator’s own', () => {
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

/** An upstream with one model at one host. */
function upstreamWith(model: string, host = '127.0.0.1'): Upstream {
  const models = { text: model, vision: model };
  const at = `https://${host}/v1`;
  return {
    ...upstreamOfThree,
    addresses: { chat: at, responses: at, messages: at, embeddings: at },
    models: { chat: models, responses: models, messages: models, embeddings: models },
  };
}

const namesIn = (model: string, host?: string, operatorNames: readonly string[] = []): string[] =>
  hiddenNames([upstreamWith(model, host)], operatorNames);

/** The same without the id and the host themselves. */
function namesOf(model: string, host: string, operatorNames?: readonly string[]): string[] {
  return namesIn(model, host, operatorNames).filter((name) => name !== model && name !== host);
}

testRows<[model: string, host: string, parts: string[]]>([
  ['deep-7b', 'console.acmeron.com', ['acmeron']],
  ['acmeron/deep-7b-instruct', '127.0.0.1', ['acmeron', 'deep-7b']],
  ['acmeron/deep-7b-chat-20250514', '127.0.0.1', ['acmeron', 'deep-7b']],
  ['us.acmeron.quillon-opus-4-8-v1:0', '127.0.0.1', ['acmeron', 'quillon', 'quillon-opus-4-8-v1']],
  ['zai-org/GLM-4.6', 'api.z.ai', ['zai', 'GLM', 'GLM-4.6', 'z.ai']],
  ['fast-model', 'api.acmeron.co.uk', ['acmeron']],
  ['fast-model', 'api.llm.co.uk', ['llm.co.uk']],
  ['kimi-k2.6', 'api.moonshot.ai', ['kimi', 'moonshot']],
  ['Qwen/Qwen3-VL-32B-Instruct', 'models.example', ['Qwen', 'Qwen3-VL-32B']],
  ['gpt-oss:20b', 'acmeron-gpu-7.internal', ['gpt', 'oss', 'gpt-oss', 'acmeron', 'acmeron-gpu-7']],
  ['fast-vision-large', 'inference.eu-central-1.api.aws', []],
  ['text-model', 'models.amazonaws.com', []],
  ['tgi', 'gateway.example', []],
])('without names from the operator, also the parts that identify an id or a host', (model, host, parts) => {
  const told = new Set(namesOf(model, host));
  told.delete(model);
  expect(told).toEqual(new Set(parts));
});

test('but not if the operator lists names', () => {
  expect(namesOf('acmeron/deep-7b-instruct', 'console.acmeron.com', ['deep'])).toEqual(['deep']);
});

/** The member names and label values in the answers of all dialects, except the fixtures' upstream's own. */
function dialectStrings(): Set<string> {
  const strings = new Set<string>();
  const collect = (label: string, value: unknown) => {
    if (typeof value === 'string' && /^(type|object|role|status|finish_reason|stop_reason)$/.test(label))
      strings.add(value);
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      strings.add(key);
      collect(key, inner);
    }
  };
  const answers = dialectNames.flatMap((dialect) => loadFixtures(dialect).filter(({ kind }) => kind === 'answer'));
  for (const { bytes } of answers) collect('', JSON.parse(String(bytes)));
  const ofUpstream = /acme|thunder|google|provider|cost|fingerprint|region|host|timings|big|city/i;
  for (const one of strings) if (ofUpstream.test(one)) strings.delete(one);
  return strings;
}

test('a model named like a word of the dialects spoils none of their members and labels', () => {
  const strings = [...dialectStrings()];
  const words = strings.flatMap((one) => one.split(/[^a-z]+/));
  expect(words).toEqual(expect.arrayContaining(['model', 'text', 'assistant', 'completion']));
  const spoilt = [...new Set(words), 'default', 'Text'].filter((word) => {
    const scrubber = createScrubber(namesIn(word), 'svc');
    return word.length > 1 && strings.some((one) => scrubber.find(one));
  });
  expect(spoilt).toEqual([]);
});

test('the same if the operator lists names, unless it is one of them', () => {
  expect(namesIn('text', '127.0.0.1', ['acmeron'])).toEqual(['acmeron']);
  expect(namesIn('text', '127.0.0.1', ['text'])).toEqual(['text']);
});

test('everyday words are not names', () => {
  const names = namesOf('acmeron/fast-code-vision-7b-instruct', 'api.models.cloud.acmeron.com');
  const text = 'The fast API in the cloud has a vision: code models that instruct. See s3.amazonaws.com.';
  expect(createScrubber(names, 'svc').scrub(text)).toBe(text);
  // Words of real ids and hosts.
  const used = [
    ...['accounts/acmeron/models/deep-7b', 'sentence-transformers/all-acmeron-L6-v2', 'acmeron-7b-python-gptq-int4'],
    ...['acmeron-4.5-air', 'acmeron-2.0-flash-exp', 'computer-use-preview', 'step-3', 'acmeron-70b-versatile'],
    ...['acmeron-4-scout', 'acmeron-guard-12b', 'acmeron-omni-moderation'],
  ].flatMap((id) => namesOf(id, '127.0.0.1'));
  const hosts = ['us-central1', 'asia-southeast1', 'europe-west4', 'runtime', 'integrate', 'platform', 'llm.corp'];
  const spoilt = [...used, ...hosts.flatMap((host) => namesOf('deep-7b', `${host}.acmeron.com`))];
  const said = `All accounts integrate a central platform: int main() in Python calls exp(). Step on air! Sentence transformers
    guard computer runtime, scout Asia, Europe and the southeast, and a versatile corp. omni/moderation`;
  expect(createScrubber(spoilt, 'svc').scrub(said)).toBe(said);
  // Common names of fakes.
  expect(namesOf('fake-text', 'mock.primary.stub.test')).toEqual([]);
  // The dialects' own member names.
  expect(namesOf('message-content-model', 'choices.delta.usage.example')).toEqual([]);
});
