import { describe, expect, test } from '@jest/globals';
import type { UpstreamOptions } from '../../../../../lambda/dialects/model/request/request-writer.ts';
import { refusalOf, seals, toChat } from './translate.ts';

const user = { role: 'user', content: 'go' };
const block = (text: string) => ({ type: 'text', text });
const cached = { cache_control: { type: 'ephemeral' } };
const use = (id: string, input: unknown = {}, name = 'run') => ({ type: 'tool_use', id, name, input });
const result = (id: string, content: unknown = `${id} done`, more: object = {}) => ({
  ...{ type: 'tool_result', tool_use_id: id, content },
  ...more,
});
const assistant = (...content: unknown[]) => ({ role: 'assistant', content });
const from = (...content: unknown[]) => ({ role: 'user', content });
const thinking = (text: string, signature = '') => ({ type: 'thinking', thinking: text, signature });
const png = { type: 'base64', media_type: 'image/png', data: 'AA==' };
const pdf = { type: 'base64', media_type: 'application/pdf', data: 'AA==' };
const image = { type: 'image', source: png };

const shownFile = (filename: string) =>
  `[{"type":"file","file":{"filename":"${filename}","file_data":"data:application/pdf;base64,AA=="}}]`;
const shownImage = (url: string) => `[{"type":"image_url","image_url":{"url":"${url}"}}]`;

const request = (messages: unknown, more: object = {}) => ({ model: 'svc', max_tokens: 9, messages, ...more });
const translate = (messages: unknown, upstream?: Partial<UpstreamOptions>, more?: object) =>
  toChat('messages', request(messages, more), upstream);

describe('the messages of a messages request', () => {
  test.each<[what: string, messages: unknown[], written: string[], leftOut?: string]>([
    [
      'user messages, one by one',
      [
        user,
        from({ ...block('go'), ...cached }),
        from(block('a'), block('b')),
        from(block('see'), image, { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } }),
        from({ type: 'document', source: pdf, title: 'a.pdf', citations: { enabled: false } }),
        from({ type: 'document', source: pdf }),
        from(),
      ],
      [
        ...['user: go', 'user: go', 'user: [a][b]'],
        `user: [see]${shownImage('data:image/png;base64,AA==')}${shownImage('https://a.example/b.png')}`,
        ...[`user: ${shownFile('a.pdf')}`, `user: ${shownFile('document.pdf')}`, 'user: '],
      ],
    ],
    [
      'a document of text',
      [from({ type: 'document', source: { ...pdf, type: 'text', data: 'b' }, title: 'A', context: 'c' })],
      ['user: A\n\nb'],
      'messages[0].content[0].context',
    ],
    [
      'texts and calls of one turn, with results in another order before the user’s text',
      [
        user,
        assistant(block('a'), use('t1'), block('b'), use('t2', { z: 1, a: [2.5] }, 'stop')),
        from(block('and'), { type: 'tool_result', tool_use_id: 't2' }, result('t1'), block('then')),
      ],
      [
        ...['user: go', 'assistant: [a][b] t1=run({}) t2=stop({"z":1,"a":[2.5]})'],
        ...['tool t1: t1 done', 'tool t2: ', 'user: [and][then]'],
      ],
    ],
    [
      'failed calls: with a text, with a text that says so itself, and without any',
      [
        assistant(use('t1'), use('t2'), use('t3')),
        from(
          result('t1', 'not there', { is_error: true }),
          result('t2', [block('ERROR 5'), block('b')], { is_error: true }),
          result('t3', [], { is_error: true }),
        ),
      ],
      [
        'assistant: null t1=run({}) t2=run({}) t3=run({})',
        ...['tool t1: Error: not there', 'tool t2: [ERROR 5][b]', 'tool t3: Error'],
      ],
    ],
  ])('%s', (...[, messages, written, leftOut]) => {
    const chat = translate(messages);
    expect(chat.messages).toEqual(written);
    expect(chat.leftOut).toBe(leftOut);
  });

  test('the input of a call keeps its spelling', () => {
    const input = '{ "n" :12345678901234567890, "\\u0061":[ ] }';
    const messages = `[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"run","input":${input}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1"}]}]`;
    const { text } = toChat('messages', `{"model":"svc","max_tokens":9,"messages":${messages}}`);
    expect(text).toContain(`"arguments":${JSON.stringify(input)}`);
  });
});

test('the system prompt of a messages request comes first, without the billing block', () => {
  const billing = block('x-anthropic-billing-header: cc_version=2.1; cch=0a1b2;');
  const written = (system: unknown) => translate([user], {}, { system }).messages;
  expect(written('be')).toEqual(['system: be', 'user: go']);
  expect(written([billing, { ...block('be'), ...cached }, block('kind')])).toEqual(['system: [be][kind]', 'user: go']);
  expect(written([billing])).toEqual(['user: go']);
});

describe('thinking that the client sends back', () => {
  const sealed = seals.seal('messages', 'what it really thought');
  const loop = (id: string, ...reasoning: unknown[]) => [user, assistant(...reasoning, use(id)), from(result(id))];
  const reasoning = (messages: unknown[], upstream?: Partial<UpstreamOptions>, more?: object) => {
    const { body, leftOut } = translate(messages, upstream, more);
    return [body.messages.flatMap(({ reasoning_content = [] }) => reasoning_content), leftOut];
  };

  test.each<[what: string, blocks: unknown[], text: string[], leftOut?: string]>([
    ['the sealed text, not the shown one', [thinking('hm', sealed)], ['what it really thought']],
    ['nothing at all', [{ type: 'thinking' }], [], 'messages[1].content[0]'],
    ['the shown text beside a foreign signature', [thinking('hm', 'EqQB')], ['hm']],
    ['a foreign signature alone', [thinking('', 'EqQB')], [], 'messages[1].content[0]'],
    ['a seal for another dialect', [thinking('', seals.seal('responses', 'x'))], [], 'messages[1].content[0]'],
    ['a redacted block', [{ type: 'redacted_thinking', data: 'EqQB' }], [], 'messages[1].content[0]'],
    ['several blocks of one turn', [thinking('a'), block('well'), thinking('b')], ['a\n\nb']],
  ])('%s', (...[, blocks, text, leftOut]) => expect(reasoning(loop('t1', ...blocks))).toEqual([text, leftOut]));

  const long = [
    ...loop('t1', thinking('one')),
    ...[assistant(thinking('and'), block('done')), ...loop('t2', thinking('two'))],
    ...[assistant(thinking('three'), use('t3')), from(result('t3'))],
  ];
  const clear = (keep?: unknown) => ({
    context_management: { edits: [{ type: 'clear_thinking_20251015', ...(keep !== undefined && { keep }) }] },
  });

  test.each<[keep: unknown, text: string[]]>([
    ['all', ['one', 'and', 'two', 'three']],
    [{ type: 'thinking_turns', value: 1 }, ['two', 'three']],
  ])('of the turns whose thinking the client keeps: %j', (keep, text) => {
    expect(reasoning(long, {}, clear(keep))).toEqual([text, undefined]);
  });
});

describe('the members of a messages request', () => {
  const schema = { type: 'object', properties: { z: {}, a: {} } };
  const run = { name: 'run', description: 'runs', input_schema: schema };
  const ran = { type: 'function', function: { name: 'run', description: 'runs', parameters: schema } };
  const form = { response_format: { type: 'json_schema', json_schema: { name: 'output', schema, strict: true } } };
  const forced = { type: 'function', function: { name: 'run' } };

  test.each<[more: object, written: object, leftOut?: string]>([
    [
      { temperature: 1, top_p: 0.5, top_k: 40, stop_sequences: ['a', 'b'] },
      { temperature: 1, top_p: 0.5, top_k: 40, stop: ['a', 'b'] },
    ],
    [{ stop_sequences: [] }, {}],
    [{ output_config: { format: { type: 'json_schema', schema } } }, form],
    [{ output_format: { type: 'json_schema', schema } }, form],
    [{ tools: [{ ...run, ...cached, eager_input_streaming: true, defer_loading: false }] }, { tools: [ran] }],
    [
      { tools: [{ ...run, type: 'custom', strict: true }] },
      { tools: [{ type: 'function', function: { ...ran.function, strict: true } }] },
    ],
    [
      { tools: [run], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
      { tools: [ran], tool_choice: 'auto', parallel_tool_calls: false },
    ],
    [
      { tools: [run], tool_choice: { type: 'any' } },
      { tools: [ran], tool_choice: 'required' },
    ],
    [
      { tools: [run], tool_choice: { type: 'tool', name: 'run' } },
      { tools: [ran], tool_choice: forced },
    ],
    [{ tools: [], tool_choice: { type: 'auto', disable_parallel_tool_use: true } }, {}],
    [
      { novelty: 1, output_config: { task_budget: {} }, tools: [{ ...run, allowed_callers: ['direct'] }] },
      { tools: [ran] },
      'novelty, output_config.task_budget, tools[0].allowed_callers',
    ],
  ])('%j', (...[more, written, leftOut]) => {
    const { body, leftOut: said } = translate([user], {}, more);
    expect(body).toEqual({ model: 'up-model', messages: [user], max_tokens: 9, ...written });
    expect(said).toBe(leftOut);
  });
});

test('tools that a client’s search finds are offered from then on, after the earlier ones', () => {
  const offered = (name: string) => ({ type: 'function', function: { name, parameters: { type: 'object' } } });
  const own = (name: string, more: object = {}) => ({ name, input_schema: { type: 'object' }, ...more });
  const late = { defer_loading: true };
  const tools = { tools: [own('fetch', late), own('find'), own('paint', late), own('sing', late)] };
  const search = (id: string, ...names: string[]) => [
    assistant(use(id, {}, 'find')),
    from(
      result(
        id,
        names.map((tool_name) => ({ type: 'tool_reference', tool_name, ...cached })),
      ),
    ),
  ];
  const found = [user, ...search('t1', 'paint', 'gone'), ...search('t2', 'fetch')];
  const [before, after] = [translate([user], {}, tools), translate(found, {}, tools)];
  expect([before.body.tools, before.leftOut]).toEqual([[offered('find')], undefined]);
  expect([after.body.tools, after.leftOut]).toEqual([['find', 'paint', 'fetch'].map(offered), undefined]);
  expect(after.messages).toEqual([
    ...['user: go', 'assistant: null t1=find({})', 'tool t1: [paint][gone]'],
    ...['assistant: null t2=find({})', 'tool t2: fetch'],
  ]);
});

describe('the thinking effort of a messages request', () => {
  const named = { reasoning: 'reasoning_effort' } as const;
  const switched = { reasoning: 'chat_template_kwargs' } as const;
  const on = { chat_template_kwargs: { enable_thinking: true } };
  const off = { chat_template_kwargs: { enable_thinking: false } };
  const enabled = (budget_tokens: number) => ({ thinking: { type: 'enabled', budget_tokens } });
  const adaptive = { thinking: { type: 'adaptive', display: 'omitted' } };
  const disabled = { thinking: { type: 'disabled' } };
  const effort = { output_config: { effort: 'medium' } };
  const [budgetPlace, effortPlace] = ['thinking.budget_tokens', 'output_config.effort'];

  test.each<[upstream: Partial<UpstreamOptions>, more: object, written: object, leftOut?: string]>([
    [{}, { ...adaptive, ...effort }, {}, effortPlace],
    [named, effort, { reasoning_effort: 'medium' }],
    [named, enabled(2_048), { reasoning_effort: 'low' }, budgetPlace],
    [{ ...named, levels: ['low', 'max'] }, enabled(31_999), { reasoning_effort: 'max' }, budgetPlace],
    [named, { ...enabled(9), ...effort }, { reasoning_effort: 'medium' }, budgetPlace],
    [named, disabled, { reasoning_effort: 'low' }, 'thinking'],
    [{ ...named, levels: ['none', 'low'] }, disabled, { reasoning_effort: 'none' }],
    [{ ...named, levels: ['none', 'low'] }, { ...disabled, ...effort }, { reasoning_effort: 'none' }, effortPlace],
    [switched, { thinking: false }, off],
    [switched, { output_config: { effort: 'none' } }, off],
    [switched, adaptive, {}],
    [switched, { ...adaptive, ...effort }, on, effortPlace],
    [switched, effort, off, effortPlace],
    [switched, { thinking: { type: 'between_tools' } }, {}, 'thinking'],
  ])('%j, asked %j', (...[upstream, more, written, leftOut]) => {
    const { body, leftOut: said } = translate([user], upstream, more);
    expect(body).toEqual({ model: 'up-model', messages: [user], max_tokens: 9, ...written });
    expect(said).toBe(leftOut);
  });
});

test('the answer’s reasoning is sealed, and shown as the client asks', () => {
  const reasoning = (thinking?: object) => translate([user], {}, { thinking }).reasoning;
  expect(reasoning()).toEqual({ shown: true, sealed: true });
  expect(reasoning({ type: 'enabled', budget_tokens: 9, display: 'omitted' })).toEqual({ shown: false, sealed: true });
});

describe('messages requests that are refused', () => {
  const unsupported = 'is not supported with this model:';

  test.each<[messages: unknown, message: string]>([
    [
      [user, assistant(block('{'))],
      "messages[1] begins the answer, which this model can't continue. End with a message of the user.",
    ],
    [
      [from({ type: 'image', source: { type: 'file', file_id: 'f' } })],
      'messages[0].content[0].source (file) is stored elsewhere. Send the image itself, in base64.',
    ],
    [
      [from({ type: 'document', source: pdf, citations: { enabled: true } })],
      "messages[0].content[0].citations.enabled asks for citations, which this model can't make. Leave it out.",
    ],
    ...(['media_type', 'data'] as const).map((name): [unknown, string] => [
      [from({ type: 'image', source: { ...png, [name]: null } })],
      `messages[0].content[0].source has no ${name}. Add it.`,
    ]),
  ])('%j', (messages, message) => expect(refusalOf('messages', request(messages))).toBe(message));

  test.each<[more: object, message: string]>([
    [
      { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
      'tools[0] (web_search_20250305) runs at the vendor, and this model has none. Leave it out of tools.',
    ],
    [
      { tools: [{ type: 'bash_20250124', name: 'bash' }] },
      "tools[0] (bash_20250124) is described to its vendor's models only. Offer a tool with a description and an input_schema.",
    ],
    [
      { tools: [{ name: 'a', input_schema: {}, defer_loading: true }] },
      'tools[0] waits for a search, and no tool is left that could search. Leave out its defer_loading.',
    ],
    [
      { tools: [{ name: 'a', input_schema: {}, input_examples: [] }] },
      `tools[0].input_examples ${unsupported} nothing here shows examples to the model. Describe them in the description.`,
    ],
    [
      { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } },
      'context_management.edits[0] (clear_tool_uses_20250919) shortens the history, which nothing here does. Leave it out.',
    ],
    [{ container: 'x' }, `container ${unsupported} it belongs to a vendor, and this model has none. Leave it out.`],
    [{ tool_choice: { type: 'whim' } }, "tool_choice (whim) is of a kind that this model can't take. Leave it out."],
  ])('%j', (more, message) => expect(refusalOf('messages', request([user], more))).toBe(message));
});
