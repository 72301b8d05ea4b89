import Anthropic from '@anthropic-ai/sdk';
import { afterAll, describe, expect, test } from '@jest/globals';
import type { TestGateway } from '../support/gateway.ts';
import { startNativeAndTranslating } from '../support/native-and-translating.ts';
import { testRows } from '../support/test-rows.ts';

const { native, translating, stop } = await startNativeAndTranslating();
afterAll(stop);

const user = { role: 'user', content: 'Hello' };
const version = { 'anthropic-version': '2026-10-21' };
const body = (more: object = {}) => ({ model: 'svc', max_tokens: 9, messages: [user], ...more });
const cited = (citations: unknown) => ({ role: 'user', content: [{ type: 'text', text: 'a', citations }] });
const citation = { type: 'char_location', cited_text: 'a', document_index: 0, start_char_index: 0, end_char_index: 1 };
const document = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a' } };

const keys = new Map([
  [native, await native.issueKey()],
  [translating, await translating.issueKey()],
]);
const keyFor = (gateway: TestGateway) => keys.get(gateway) ?? '';

async function ask(gateway: TestGateway, sent: object, headers: Record<string, string> = version) {
  const response = await gateway.post('/v1/messages', sent, { 'x-api-key': keyFor(gateway), ...headers });
  const { error } = (await response.json()) as { error?: { message: string } };
  return [response.status, error?.message];
}

test('the newest SDK sends that version, and its key as Bearer alone', async () => {
  let sent = new Headers();
  for (const gateway of [native, translating]) {
    const client = new Anthropic({
      ...{ baseURL: gateway.url, apiKey: keyFor(gateway), maxRetries: 0 },
      fetch: (url, init) => {
        sent = new Headers(init?.headers);
        return fetch(url, init);
      },
    });
    const message = await client.messages.create({
      model: 'svc',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'a' }],
    });
    expect(message.type).toBe('message');
    expect(sent.get('anthropic-version')).toBe('2026-10-21');
    expect([sent.get('authorization'), sent.get('x-api-key')]).toEqual([expect.stringMatching(/^Bearer ltk_/), null]);
  }
});

testRows(['2026-10-21', '2099-01-01'])('any version is passed through to a messages upstream', async (one) => {
  const sent = body({ temperature: 1, messages: [cited([citation])] });
  expect(await ask(native, sent, { 'anthropic-version': one })).toEqual([200, undefined]);
  const request = native.upstream.requests.at(-1);
  expect(request?.headers['anthropic-version']).toBe(one);
  expect(JSON.parse(`${request?.body}`)).toEqual({ ...sent, model: 'acmecorp/thunder-70b-instruct' });
});

describe('where messages are translated, that version still rejects what it rejects natively', () => {
  const notPermitted = (place: string) =>
    expect.stringContaining(`${place} is not permitted in version 2026-10-21 of this API. Leave it out.`);

  testRows<[more: object, message: unknown]>([
    [{ temperature: 1 }, notPermitted('temperature')],
    [{ top_p: 0.99 }, notPermitted('top_p')],
    [{ top_k: 5 }, notPermitted('top_k')],
    [{ messages: [user, cited([citation])] }, notPermitted('messages[1].content[0].citations')],
    [
      { messages: [user, { role: 'assistant', content: [document] }, user] },
      expect.stringMatching(/^messages\[1\]\.content\[0\] \(document\)/),
    ],
  ])('with the place', async (more, message) => {
    expect(await ask(translating, body(more))).toEqual([400, message]);
  });

  testRows<[more: object]>([
    [{}],
    [{ temperature: null }],
    [{ messages: [cited([])] }],
    [{ messages: [cited(null)] }],
    [{ messages: [user, { ...cited([citation]), role: 'assistant' }, user] }],
    [{ messages: [{ role: 'user', content: [document] }] }],
  ])('but nothing else', async (more) => expect(await ask(translating, body(more))).toEqual([200, undefined]));

  testRows<Record<string, string>>([{}, { 'anthropic-version': '2023-06-01' }])(
    'nor anything in the version before',
    async (headers) => {
      const sent = body({ temperature: 1, top_p: 0.9, messages: [cited([citation])] });
      expect(await ask(translating, sent, headers)).toEqual([200, undefined]);
      expect(JSON.parse(`${translating.upstream.requests.at(-1)?.body}`)).toMatchObject({ temperature: 1, top_p: 0.9 });
    },
  );
});
