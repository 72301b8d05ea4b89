import { afterAll, describe, expect, test } from '@jest/globals';
import { json } from '../../local/upstream/script.ts';
import type { TestGateway } from '../support/gateway.ts';
import { startNativeAndTranslating } from '../support/native-and-translating.ts';
import { testRows } from '../support/test-rows.ts';
import { wire } from '../support/wire.ts';

const { native, translating, stop } = await startNativeAndTranslating();
afterAll(stop);

const history = '"max_tokens":9,"messages":[{"role":"user","content":"Go on."}]';

async function usedAt({ url }: TestGateway, headers: Record<string, string>): Promise<number> {
  const usage = await fetch(`${url}/v1/usage`, { headers });
  return ((await usage.json()) as { requests: { used: number } }).requests.used;
}

async function ask(gateway: TestGateway, body: string, path = '/v1/messages') {
  const key = { 'x-api-key': await gateway.issueKey() };
  const before = await usedAt(gateway, key);
  const response = await gateway.post(path, body, key);
  const text = await response.text();
  const { error } = JSON.parse(text) as { error?: { message: string; details?: object } };
  return {
    ...{ text, status: response.status, error, leftOut: response.headers.get('x-svc-left-out') },
    cost: (await usedAt(gateway, key)) - before,
  };
}

describe('the first request of a thread has the full history, so it is answered as a plain request', () => {
  const sent = () => `${native.upstream.requests.at(-1)?.body}`.replace('acmecorp/thunder-70b-instruct', 'svc');

  testRows<[body: string, without: string]>([
    [
      `{"thread":{"id":"a"}, "thread" : {"new":1,"type":"create"},"model":"svc",${history}}`,
      `{"model":"svc",${history}}`,
    ],
    [
      `{"model":"svc",${history},"thinking":false,"thr\\u0065ad":{"type":"create"}}`,
      `{"model":"svc",${history},"thinking":{"type":"disabled"}}`,
    ],
  ])('wherever and however it says so', async (body, without) => {
    expect(await ask(native, body)).toMatchObject({ status: 200, leftOut: 'thread', cost: 1 });
    expect(sent()).toBe(without);
  });

  test('also where reasoning in it was sealed for another upstream, in the order of the body', async () => {
    const message = { role: 'assistant', content: 'Hi', reasoning_content: 'Hm.' };
    const answer = { ...Object(wire.chat.answer), choices: [{ index: 0, message, finish_reason: 'stop' }] };
    translating.upstream.answer(json(200, answer));
    const { text } = await ask(translating, `{"model":"svc",${history}}`);
    const [reasoningBlock, said] = JSON.parse(text).content;
    const messages = (...content: object[]) => JSON.stringify([{ role: 'assistant', content }]);
    const body = `{"model":"svc","messages":${messages(reasoningBlock, said)},"thread":{"type":"create"},"max_tokens":9}`;
    expect(await ask(native, body)).toMatchObject({ status: 200, leftOut: 'messages[0].content[0], thread' });
    expect(sent()).toBe(`{"model":"svc","messages":${messages(said)},"max_tokens":9}`);
  });

  test('also where tokens are counted, and where the request is translated', async () => {
    const body = `{"model":"svc","thread":{"type":"create"},${history}}`;
    native.upstream.answer(json(200, { input_tokens: 7 }));
    const count = await ask(native, body, '/v1/messages/count_tokens');
    expect(count).toMatchObject({ status: 200, leftOut: 'thread', cost: 0 });
    expect(await ask(translating, body)).toMatchObject({ status: 200, leftOut: 'thread', cost: 1 });
    expect(`${translating.upstream.requests.at(-1)?.body}`).not.toContain('thread');
  });

  test('null, or anything but an object, is no thread', async () => {
    const body = `{"model":"svc","thread":null,${history}}`;
    expect(await ask(native, body)).toMatchObject({ status: 200, leftOut: null });
    expect(sent()).toBe(body);
  });
});

describe('a continued thread is refused with the code that makes SDKs send the full history, free of charge', () => {
  testRows<[string, path?: string, gateway?: TestGateway]>([
    ['{"type":"continue","previous_message_id":"msg_1"}'],
    ['{"type":"continue"}', '/v1/messages/count_tokens'],
    ['{"type":"fork"}', '/v1/messages', translating],
    ['{"id":"thread_1"}'],
    ['{}'],
  ])('whatever it is but created', async (thread, path, gateway = native) => {
    const { status, error, cost } = await ask(gateway, `{"model":"svc","thread":${thread},${history}}`, path);
    expect([status, cost]).toEqual([400, 0]);
    expect(error?.message).toMatch(/^thread is not supported.*full history in messages\./);
    expect(error?.details).toEqual({ error_code: 'thread_unsupported_request' });
  });

  test('which the client reads, while another refusal is charged', async () => {
    const { error } = await ask(native, `{"model":"svc","thread":{"type":"continue"},${history}}`);
    expect(error?.message).toMatch(/This request was not charged; \d+ requests are left/);
    const other = await ask(native, '{"model":"svc","max_tokens":9}');
    expect([other.status, other.cost]).toEqual([400, 1]);
  });
});
