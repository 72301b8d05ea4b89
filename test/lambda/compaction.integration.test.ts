import { afterAll, describe, expect, test } from '@jest/globals';
import OpenAI, { NotFoundError } from 'openai';
import { json } from '../../local/upstream/script.ts';
import { startRoomyDemoGateway } from '../sdk/sdk-gateway.ts';
import { type FakeUpstream, startFakeUpstream } from '../support/fake-upstream.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { chargesIn } from '../support/quota.ts';

const path = '/v1/responses/compact';
const roomy = { GUEST_LIMIT: '1000', MEMBER_LIMIT: '900', BURST_LIMIT: '600' };
const input = [
  { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Who made you?' }] },
  { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sealed' },
  { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'You know.' }] },
];
const sealed = { id: 'cmp_1', type: 'compaction', encrypted_content: 'AcmeCorp' };
const compacted = {
  ...{ id: 'resp_1', object: 'response.compaction', created_at: 1, provider: 'AcmeCorp' },
  output: [{ ...input[0], content: [{ type: 'input_text', text: 'Who is Thunder?' }] }, sealed],
  usage: { input_tokens: 30, output_tokens: 4, total_tokens: 34 },
};

const gateway = await startTestGateway({ environment: roomy });
gateway.upstream.otherwise(json(200, compacted));
const key = await gateway.issueKey();
afterAll(() => gateway[Symbol.asyncDispose]());

async function ask(of: TestGateway, body: object, as: string) {
  const before = await chargesIn(of);
  const response = await of.post(path, { model: 'svc', ...body }, { authorization: `Bearer ${as}` });
  const answer = (await response.json()) as { output?: object[]; error?: { code: string; message: string } };
  return { status: response.status, answer, cost: (await chargesIn(of)) - before };
}

describe('a responses upstream compacts a conversation', () => {
  test('byte for byte, charged, counted, and with its names hidden', async () => {
    const { status, answer, cost } = await ask(gateway, { input, instructions: 'Be brief.' }, key);
    expect([status, cost]).toEqual([200, 1]);
    const { provider: _, ...shown } = compacted;
    const [said] = shown.output;
    expect(answer).toEqual({
      ...shown,
      output: [{ ...said, content: [{ type: 'input_text', text: 'Who is svc?' }] }, sealed],
    });
    const { path: asked, body } = gateway.upstream.requests.at(-1) ?? {};
    expect(asked).toBe(path);
    expect(JSON.parse(`${body}`)).toEqual({
      ...{ model: 'acmecorp/thunder-70b-instruct', input, instructions: 'Be brief.' },
    });
    expect(gateway.log.at(-1)).toMatchObject({ message: 'answered', inputTokens: 30, outputTokens: 4 });
  });

  test('under the rules of every other body', async () => {
    const picture = { type: 'input_image', image_url: 'data:image/png;base64,AA==' };
    const seen = { input: [{ role: 'user', content: [picture] }] };
    expect((await ask(gateway, seen, key)).answer.error).toMatchObject({ code: 'invalid_model' });
    expect((await ask(gateway, { ...seen, model: 'svc-vision' }, key)).status).toBe(200);
    expect((await ask(gateway, { model: 'none', input }, key)).answer.error).toMatchObject({ code: 'invalid_model' });
    const stored = await ask(gateway, { previous_response_id: 'resp_1' }, key);
    expect(stored.answer.error).toMatchObject({ code: 'invalid_request' });
    expect(await ask(gateway, { input, stream: true }, key)).toMatchObject({ status: 200, cost: 1 });
  });

  test('for the openai SDK, which sends it back', async () => {
    await using demo = await startRoomyDemoGateway();
    const client = new OpenAI({ baseURL: `${demo.url}/v1`, apiKey: await demo.issueKey(), maxRetries: 0 });
    const { output } = await client.responses.compact({ model: 'svc', input: 'Who are you?' });
    expect(output.map(({ type }) => type)).toEqual(['message', 'compaction']);
    const next = await client.responses.create({
      model: 'svc',
      input: [...(output as OpenAI.Responses.ResponseInputItem[]), { role: 'user', content: 'Hello' }],
    });
    expect(next.status).toBe('completed');
  });
});

const notOffered = 'Compacting a conversation is not offered here: have the client shorten it by a request of its own.';

describe('elsewhere that is a 404, free of charge', () => {
  test.each(['chat', 'messages', 'chat,messages'])('at an upstream of %s', async (dialects) => {
    await using other = await startTestGateway({
      environment: { ...roomy, UPSTREAM_DIALECTS: dialects, UPSTREAM_OUTPUT_LIMIT: '9' },
    });
    const client = new OpenAI({ baseURL: `${other.url}/v1`, apiKey: await other.issueKey(), maxRetries: 0 });
    const refusal = await client.responses.compact({ model: 'svc', input: 'Hello' }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(NotFoundError);
    expect(refusal).toMatchObject({ code: 'not_found', message: expect.stringContaining(notOffered) });
    expect(other.upstream.requests).toEqual([]);
    expect(await chargesIn(other)).toBe(0);
  });

  test.each([404, 405, 501])('where the upstream answers %s, whatever ids the items have', async (status) => {
    gateway.upstream.answer(json(status, { error: { message: 'AcmeCorp knows no such path.' } }));
    const { status: shown, answer, cost } = await ask(gateway, { input }, key);
    expect([shown, answer.error?.code, cost]).toEqual([404, 'not_found', 0]);
    expect(answer.error?.message).toMatch(notOffered);
  });

  test('but not where the next upstream speaks responses', async () => {
    await using second: FakeUpstream = await startFakeUpstream();
    await using both = await startTestGateway({
      environment: {
        ...{ ...roomy, UPSTREAM_DIALECTS: 'chat', UPSTREAM_2_BASE_URL: second.url, UPSTREAM_2_API_KEYS: 'two' },
        ...{ UPSTREAM_2_TEXT_MODEL: 'acmecorp/second', UPSTREAM_2_VISION_MODEL: 'acmecorp/eyes' },
      },
    });
    second.otherwise(json(200, compacted));
    expect((await ask(both, { input }, await both.issueKey())).status).toBe(200);
    expect(both.upstream.requests).toEqual([]);
    expect(JSON.parse(`${second.requests.at(-1)?.body}`).model).toBe('acmecorp/second');
  });
});
