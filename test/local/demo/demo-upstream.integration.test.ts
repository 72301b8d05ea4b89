import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type DemoUpstream, settingsFor, startDemoUpstream } from '../../../local/demo/demo-upstream.ts';
import { startTestGateway } from '../../support/gateway.ts';

let upstream: DemoUpstream;
beforeAll(async () => {
  upstream = await startDemoUpstream({ pace: 0, now: () => 1_800_000_000_999 });
});
afterAll(() => upstream.close());

const model = 'quillon/quill-4-text';
const question = { role: 'user' as const, content: 'Who are you?' };

async function post(path: string, body: object, key: string = upstream.apiKey) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const response = await fetch(`${upstream.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

test('it answers in one piece, and names its maker everywhere', async () => {
  const { status, headers, body } = await post('/chat/completions', { model, messages: [question] });
  expect([status, headers.get('server')]).toEqual([200, expect.stringContaining('quillon')]);
  const quillon = expect.stringMatching(/quillon/i);
  expect(body).toMatchObject({
    ...{ id: quillon, object: 'chat.completion', created: 1_800_000_000, model },
    ...{ provider: 'Quillon', system_fingerprint: quillon },
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: quillon } }],
  });
});

test.each([
  ['/chat/completions', 'wrong', 401, { error: { type: 'invalid_request_error', code: 'invalid_api_key' } }],
  ['/responses', undefined, 404, { error: { type: 'invalid_request_error', code: 'model_not_found' } }],
  ['/messages', undefined, 404, { type: 'error', error: { type: 'not_found_error' } }],
])('%s is refused in the shape of its dialect (key: %s)', async (path, key, status, body) => {
  expect(await post(path, { model: 'svc' }, key)).toMatchObject({ status, body });
});

const note = 'You are in /home. The weather is fine.';
const returned = { type: 'function_call_output', call_id: 'c', output: 'snow' };
const developer = { role: 'developer', content: note };
test.each([
  ['/messages', { max_tokens: 500, messages: [question, { role: 'system', content: note }] }, 'I am Quill-4'],
  ['/chat/completions', { messages: [question, developer] }, 'I am Quill-4'],
  [
    '/responses',
    { input: [question, { ...developer, content: [{ type: 'input_text', text: note }] }] },
    'I am Quill-4',
  ],
  ['/responses', { input: [question, returned, developer] }, 'snow'],
])('%s: a text that an agent adds to the user’s is not taken for a question', async (path, body, said) => {
  expect(JSON.stringify((await post(path, { model, ...body })).body)).toContain(said);
});

test('an answer ends at a limit, and at a stop sequence, and says so', async () => {
  expect(await post('/responses', { model, input: 'x', max_output_tokens: 2 })).toMatchObject({
    body: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
  });
  const body = { model, max_tokens: 500, messages: [{ ...question, content: 'Hello' }], stop_sequences: ['demo'] };
  expect(await post('/messages', body)).toMatchObject({
    body: { stop_reason: 'stop_sequence', stop_sequence: 'demo', content: [{ text: 'Quillon here, with a ' }] },
  });
});

test.each([['chat'], ['messages']] as const)(
  'where it speaks only %s, a gateway translates the other dialects, and there are embeddings all the same',
  async (spoken) => {
    const demo = await startDemoUpstream({ pace: 0, dialects: [spoken] });
    await using gateway = await startTestGateway({ environment: { ...settingsFor(demo), GUEST_LIMIT: '9' } });
    for (const stream of [false, true]) {
      for (const [path, body] of [
        ['/v1/chat/completions', { messages: [question] }],
        ['/v1/responses', { input: 'Who are you?' }],
        ['/v1/messages', { max_tokens: 99, messages: [question] }],
      ] as const) {
        const response = await gateway.post(path, { model: 'svc', stream, ...body }, { 'x-api-key': 'x' });
        const text = await response.text();
        expect([path, response.status, text]).toEqual([path, 200, expect.not.stringMatching(/quill/i)]);
      }
    }
    const embedding = { model: 'svc-embedding', input: 'Who are you?' };
    expect((await gateway.post('/v1/embeddings', embedding, { 'x-api-key': 'x' })).status).toBe(200);
    await demo.close();
  },
);
