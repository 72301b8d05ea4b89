import { expect, test } from '@jest/globals';
import { readEvents } from '../../support/client-view.ts';
import { answerOf, dialectNamed, rewriteStream } from '../../support/rewrite.ts';
import { testRows } from '../../support/test-rows.ts';

/** The envelope around the same answer in each dialect, and the usage, whose names differ. */
const envelopes = {
  chat: (own: object) => ({ id: 'chatcmpl-1', object: 'chat.completion', model: 'm', choices: [], ...own }),
  responses: (own: object) => ({ id: 'resp_1', object: 'response', model: 'm', output: [], ...own }),
  messages: (own: object) => ({ id: 'msg_1', type: 'message', model: 'm', content: [], ...own }),
};
type Name = keyof typeof envelopes;
const names = Object.keys(envelopes) as Name[];

const rewritten = (name: Name, own: object) => answerOf(dialectNamed(name), envelopes[name](own));
const unchanged = (name: Name, own: object = {}) => ({ ...envelopes[name](own), model: 'svc' });

/** The chunks of a chat in one stream. */
function streamed(...chunks: object[]): unknown[] {
  const wire = chunks.map((own) => {
    const choices = [{ index: 0, delta: { content: 'Hello' }, finish_reason: null }];
    return `data: ${JSON.stringify({ ...envelopes.chat({}), object: 'chat.completion.chunk', choices, ...own })}\n\n`;
  });
  const { output } = rewriteStream(dialectNamed('chat'), Buffer.from(wire.join('')));
  return readEvents(output).map(({ value }) => value);
}

const members: [string, unknown][] = [
  ['provider', 'AcmeRouter'],
  ['cost', 0.0021],
  ['cost_details', { upstream_inference_cost: 0.002 }],
  ['is_byok', false],
  ['timings', { predicted_per_second: 71.5 }],
  ['kv_transfer_params', { remote_port: 14579 }],
  ['prompt_token_ids', [1, 2, 3]],
  ['native_finish_reason', 'STOP'],
  ['x_acme', { queued: 3 }],
];

testRows(members)('a field of one provider is dropped, in each dialect and its usage', (member, value) => {
  for (const name of names) {
    expect(rewritten(name, { [member]: value })).toEqual(unchanged(name));
    const { usage } = rewritten(name, { usage: { total_tokens: 9, [member]: value } });
    expect(usage).toEqual({ total_tokens: 9 });
  }
  expect(JSON.stringify(streamed({ [member]: value }, { [member]: value }))).not.toContain(member);
});

testRows<[name: Name, id: string, shown: string]>([
  ['chat', 'gen-1763700000-Ab', 'chatcmpl-1763700000-Ab'],
  ['chat', 'cmpl-7', 'chatcmpl-7'],
  ['chat', 'chatcmpl-7', 'chatcmpl-7'],
  ['chat', 'deadbeef-1234-4abc-8def-123456789abc', 'deadbeef-1234-4abc-8def-123456789abc'],
  ['chat', '0196f3', '0196f3'],
  ['responses', 'gen-7', 'resp_7'],
  ['responses', 'resp_68a', 'resp_68a'],
  ['messages', 'gen-7', 'msg_7'],
  ['messages', 'msg_bdrk_01Ab', 'msg_01Ab'],
  ['messages', 'msg_vrtx_01Ab', 'msg_01Ab'],
  ['messages', 'gen-AcmeCorp-7', 'msg_svc-7'],
  // A short name is found here, but not directly after an underscore.
  ['messages', 'gen-acme-7', 'msg_svc-7'],
  // And directly after the vendor's prefix.
  ['chat', 'msg_acme-7', 'chatcmpl-svc-7'],
  ['chat', 'msg_bdrk_01Ab', 'chatcmpl-01Ab'],
  ['messages', 'resp_acme-7', 'msg_svc-7'],
])('an id begins with its dialect’s own prefix', (name, id, shown) => {
  expect(rewritten(name, { id })).toEqual({ ...unchanged(name), id: shown });
});

test('also if each event has another id', () => {
  const ids = streamed({ id: '1' }, { id: '2' }, { id: 'gen-3' }, { id: 'gen-4' }).map((chunk) => Object(chunk).id);
  expect(ids).toEqual(['1', '2', 'chatcmpl-3', 'chatcmpl-4']);
});

test('each chunk names the public model, also if the upstream names none, as does a plain answer', () => {
  const chunk = (text: string) => ({ model: undefined, choices: [{ index: 0, delta: { content: text } }] });
  const said = ['a', 'b', 'An Acme', 'Corp', 'c '].map(chunk);
  const odd = [
    { provider: 'AcmeRouter', ...chunk('d') },
    chunk('An acm'),
    { model: undefined, choices: [], usage: {} },
    { model: undefined, choices: [{ model: 'acmecorp/thunder-70b-instruct', index: 0, delta: { content: 'e' } }] },
  ];
  const shown = streamed(...said, ...odd);
  expect(shown.map((one) => Object(one).model)).toEqual(shown.map(() => 'svc'));
  expect(rewritten('chat', { model: undefined, provider: 'AcmeRouter' })).toEqual(unchanged('chat'));
  expect(rewritten('chat', { model: undefined, choices: undefined })).not.toHaveProperty('model');
  expect(streamed({ id: '1', model: undefined, choices: undefined })).toEqual([
    { id: '1', object: 'chat.completion.chunk' },
  ]);
});

const machines = ['host', 'hostname', 'pod', 'node', 'worker', 'machine', 'server', 'instance', 'replica', 'cluster'];
const places = ['region', 'zone', 'namespace', 'datacenter'];
testRows([
  ...[...machines, ...places].map((name) => ({ meta: { [name]: 'a' } })),
  ...['gpu_host', 'hosts', 'node_id', 'pod_uuid', 'server_ip', 'serverName'].map((name) => ({ meta: { [name]: 'a' } })),
  { meta: { by: 'gpu-7.local' } },
  { meta: { by: 'gpu-7.lan:8000' } },
  { meta: { by: [{ workerId: 7 }] } },
  { meta: ['gpu-7.internal'] },
  { meta: { by: 'gpu7.acme.example:8000' } },
  { meta: { by: '10.0.0.7' } },
  { meta: { by: 'vllm-6c9d8b7f5d-x2k4q' } },
  { region: 'eu-9' },
  { served_by: 'vllm-6c9d8b7f5d-x2k4q' },
])('a vendor’s member that names a machine is dropped, also in the usage and in a choice', (own) => {
  for (const name of names) {
    expect(rewritten(name, own)).toEqual(unchanged(name));
    expect(rewritten(name, { usage: { total_tokens: 9, ...own } }).usage).toEqual({ total_tokens: 9 });
  }
  expect(streamed(own, own)).toEqual(streamed({}, {}));
  const choice = { index: 0, message: { role: 'assistant', content: 'www.example.org' }, finish_reason: 'stop' };
  expect(rewritten('chat', { choices: [{ ...choice, ...own }] })).toEqual(unchanged('chat', { choices: [choice] }));
  const chunk = (more: object) => ({ choices: [{ index: 0, delta: { content: 'www.example.org' }, ...more }] });
  expect(streamed(chunk(own), chunk(own))).toEqual(streamed(chunk({}), chunk({})));
});

test('also in an event of messages', () => {
  const pieces = [1, 2, 3].map(() => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text: 'x' },
  }));
  const shown = (own: object) => {
    const wire = pieces.map((one) => `data: ${JSON.stringify({ ...one, ...own })}\n\n`).join('');
    return readEvents(rewriteStream(dialectNamed('messages'), Buffer.from(wire)).output).map(({ value }) => value);
  };
  expect(shown({ meta: { pod: 'a' }, by: 'gpu-7.internal' })).toEqual(pieces);
  expect(shown({ meta: { by: 'a' } })).toEqual(pieces.map((one) => ({ ...one, meta: { by: 'a' } })));
});

test('also if it first appears in a later event', () => {
  const by = ['a', 'b', 'c', 'vllm-6c9d8b7f5d-x2k4q'];
  expect(streamed(...by.map((one) => ({ meta: { by: one } })))).toEqual(
    streamed({ meta: { by: 'a' } }, { meta: { by: 'b' } }, { meta: { by: 'c' } }, {}),
  );
  expect(streamed(...by.map((one) => ({ by: one })))).toEqual(streamed({ by: 'a' }, { by: 'b' }, { by: 'c' }, {}));
});

testRows<[name: Name, own: object]>([
  ['chat', { meta: { version: '1.2.0', words: 'Ask a host. See https://docs.python.org/3/' } }],
  ['chat', { host: null, meta: { node: null } }],
  ['chat', { meta: { ghost: 'a', nodes_left: 3, words: `${'a'.repeat(300)}.internal` } }],
  ['chat', { citations: ['www.example.org'], search_results: [{ server: 'www.example.org' }] }],
  ['responses', { metadata: { host: 'a' }, tools: [{ type: 'mcp', server_label: 'a', parameters: { host: {} } }] }],
  ['messages', { container: { id: 'c', node: 'a' } }],
])('members that the dialect defines or that name no machine pass through', (name, own) => {
  expect(rewritten(name, own)).toEqual(unchanged(name, own));
});
