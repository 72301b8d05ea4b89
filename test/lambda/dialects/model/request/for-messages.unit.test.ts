import { describe, expect, test } from '@jest/globals';
import { readChat } from '../../../../../lambda/dialects/chat/read-request.ts';
import { writeMessagesRequest } from '../../../../../lambda/dialects/messages/write-request.ts';
import type { UpstreamOptions } from '../../../../../lambda/dialects/model/request/request-writer.ts';
import { toSealedBlock, voidContent } from '../../../../../lambda/dialects/model/seal.ts';
import { readResponses } from '../../../../../lambda/dialects/responses/read-request.ts';
import { createScanner } from '../../../../../lambda/json/scan.ts';
import { sealText as signatureOf } from '../../../../../local/upstream/speaker.ts';
import { faultsOf } from '../../../../support/message-rules.ts';
import { plainUpstream, seals } from './translate.ts';

const readers = { chat: readChat, responses: readResponses };

/** What an upstream of messages gets, and what was left out. */
function toMessages(dialect: keyof typeof readers, body: object, options: Partial<UpstreamOptions> = {}) {
  const json = createScanner().scan(JSON.stringify({ model: 'svc', ...body }));
  const request = readers[dialect](json, (sealed) => seals.open(dialect, sealed));
  const upstream = { ...plainUpstream, limit: 4096, ...options };
  const { pieces, leftOut } = writeMessagesRequest(request, upstream, 'up-model');
  const sent = JSON.parse(pieces.join(''));
  if (options.systemTurns !== 'keep') expect(faultsOf(sent)).toEqual([]);
  return { ...sent, leftOut };
}

const user = (content: unknown) => ({ role: 'user', content });
const said = (content: unknown) => ({ role: 'assistant', content });
const system = (content: unknown) => ({ role: 'system', content });
const text = (words: string) => ({ type: 'text', text: words });
const called = (id: string, args: string, name = 'f') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});
const result = (id: string, content: unknown) => ({ role: 'tool', tool_call_id: id, content });
const f = { type: 'function', function: { name: 'f', description: 'A tool.', parameters: { type: 'object' } } };

describe('messages of chat', () => {
  test('begin with all leading instructions; later ones go into the message before, or the next user message', () => {
    const messages = [system('a'), { role: 'developer', content: [text('b'), text('c')] }, user('d'), system('e')];
    const { system: first, messages: sent } = toMessages('chat', {
      messages: [...messages, said('f'), system('g'), user('h')],
    });
    expect(first).toEqual([text('a'), text('b'), text('c')]);
    expect(sent).toEqual([
      { role: 'user', content: [text('d'), text('e')] },
      { role: 'assistant', content: [text('f')] },
      { role: 'user', content: [text('g'), text('h')] },
    ]);
  });

  test('keep later instructions in place if the operator says so', () => {
    const { messages } = toMessages('chat', { messages: [user('a'), system('b'), user('c')] }, { systemTurns: 'keep' });
    expect(messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'system', 'user']);
  });

  test('put the results of all calls into one message, with images, and instructions after them', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO', detail: 'high' } };
    const pdf = { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' } };
    const calls = { ...said(null), tool_calls: [called('a', '{"x": 1e400}'), called('b.c', '')] };
    const messages = [
      user('go'),
      calls,
      result('b.c', [text('two'), image]),
      system('hush'),
      result('a', ''),
      user([pdf]),
    ];
    const json = createScanner().scan(JSON.stringify({ messages }));
    const request = readChat(json, () => undefined);
    const { pieces } = writeMessagesRequest(request, { ...plainUpstream, limit: 9 }, 'up-model');
    // Arguments keep their spelling.
    expect(pieces.join('')).toContain('"input":{"x": 1e400}');
    const sent = toMessages('chat', { messages }).messages;
    const [{ id }, { id: other }] = [sent[1].content[0], sent[1].content[1]];
    expect([id, other, sent[1].content[1].input]).toEqual(['a', expect.stringMatching(/^call_\w{32}$/), {}]);
    const source = { type: 'base64', media_type: 'image/png', data: 'iVBO' };
    expect(sent[2].content).toEqual([
      { type: 'tool_result', tool_use_id: 'a' },
      { type: 'tool_result', tool_use_id: other, content: [text('two'), { type: 'image', source }] },
      text('hush'),
    ]);
    const document = { type: 'base64', media_type: 'application/pdf', data: 'JVBE' };
    expect(sent[3].content).toEqual([{ type: 'document', source: document, title: 'a.pdf' }]);
  });

  test('leave out what is empty', () => {
    const messages = [user('a'), said(' \n'), user([text(''), text('b')]), said([text('c'), text('')]), user('d')];
    const contents = toMessages('chat', { messages }).messages.map(({ content }: { content: unknown }) => content);
    expect(contents).toEqual([[text('a')], [text('b')], [text('c')], [text('d')]]);
  });

  test('of the assistant are one message if nothing stands between them', () => {
    const calls = { ...said('d'), tool_calls: [called('x', '{}')] };
    const messages = [user('a'), said('b'), user(' '), said('c'), system(''), calls, result('x', 'e')];
    const { messages: sent } = toMessages('chat', { messages });
    expect(sent[1].content).toEqual([
      ...[text('b'), text('c'), text('d')],
      { type: 'tool_use', id: 'x', name: 'f', input: {} },
    ]);
  });

  test('may still use function_call, the predecessor of tool_calls', () => {
    const { name, arguments: args } = { name: 'f', arguments: '{"a":1}' };
    const messages = [
      user('a'),
      { ...said(null), function_call: { name, arguments: args } },
      { role: 'function', name, content: 'b' },
    ];
    const {
      messages: sent,
      tools,
      tool_choice,
    } = toMessages('chat', { messages, functions: [{ name }], function_call: 'auto' });
    expect(sent[1].content).toEqual([{ type: 'tool_use', id: 'f', name: 'f', input: { a: 1 } }]);
    expect(sent[2].content).toEqual([{ type: 'tool_result', tool_use_id: 'f', content: [text('b')] }]);
    expect([tools, tool_choice]).toEqual([
      [{ name: 'f', input_schema: { type: 'object', properties: {} } }],
      { type: 'auto' },
    ]);
  });

  test('have a unique id for each call, even if a server numbers calls per turn', () => {
    const turn = [
      { ...said(null), tool_calls: [called('f:0', '{}'), called('g', '{}')] },
      result('f:0', 'a'),
      result('g', 'b'),
    ];
    const { messages } = toMessages('chat', { messages: [user('a'), ...turn, ...turn, ...turn, user('c')] });
    const before = toMessages('chat', { messages: [user('a'), ...turn, ...turn] }).messages;
    // The same history is sent in the same words.
    expect(messages.slice(0, before.length)).toEqual(before);
  });

  test.each(['{"a":', '[1]', '"a"'])('with arguments that are not an object are refused: %s', (args) => {
    const messages = [user('a'), { ...said(null), tool_calls: [called('a', args)] }, result('a', 'b')];
    expect(() => toMessages('chat', { messages })).toThrow(
      'messages[1].tool_calls[0] has arguments that are no JSON object',
    );
  });

  test('with arguments that are nested too deeply are refused, with the reason', () => {
    const args = `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`;
    const messages = [user('a'), { ...said(null), tool_calls: [called('a', args)] }, result('a', 'b')];
    expect(() => toMessages('chat', { messages })).toThrow(
      /^messages\[1\]\.tool_calls\[0\] has arguments that exceed a limit of the gateway: .* 10000 levels\. Send fewer\.$/,
    );
  });
});

describe('options', () => {
  const messages = [user('a')];
  const thinks = { type: 'adaptive', display: 'summarized' };
  const allowed = { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [f] } };
  test.each<[object, object]>([
    [{ max_tokens: 5, max_completion_tokens: 6 }, { max_tokens: 6 }],
    [{}, { max_tokens: 4096 }],
    [
      { stop: ['a', 'b'], temperature: 0.5, top_p: 0.9, top_k: 3 },
      { stop_sequences: ['a', 'b'], temperature: 0.5, top_p: 0.9, top_k: 3 },
    ],
    [{ stop: [] }, { stop_sequences: undefined }],
    [
      { reasoning_effort: 'low', temperature: 0.5, top_p: 0.9, top_k: 3 },
      { thinking: thinks, temperature: undefined, top_k: undefined, leftOut: 'temperature, top_p, top_k' },
    ],
    [
      { reasoning_effort: 'low', temperature: 1, top_p: 0.95 },
      { temperature: 1, top_p: 0.95, leftOut: undefined },
    ],
    [
      { reasoning_effort: 'none', temperature: 0.5 },
      { temperature: 0.5, leftOut: undefined },
    ],
    [
      { tools: [f], tool_choice: 'required', reasoning_effort: 'high' },
      { tool_choice: { type: 'any' }, thinking: undefined, leftOut: 'reasoning_effort' },
    ],
    [{ tools: [f], tool_choice: f }, { tool_choice: { type: 'tool', name: 'f' } }],
    [{ tools: [f], function_call: { name: 'f' } }, { tool_choice: { type: 'tool', name: 'f' } }],
    [
      { tools: [{ type: 'function', function: { name: 'g' } }, f], tool_choice: allowed },
      {
        tools: [{ name: 'f', description: 'A tool.', input_schema: { type: 'object' } }],
        tool_choice: { type: 'any' },
      },
    ],
    ...[{}, null, undefined].map((parameters): [object, object] => [
      { tools: [{ type: 'function', function: { name: 'f', parameters } }] },
      { tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }] },
    ]),
    [{ tools: [f], tool_choice: 'none', parallel_tool_calls: false }, { tool_choice: { type: 'none' } }],
    [{ tools: [f], parallel_tool_calls: false }, { tool_choice: { type: 'auto', disable_parallel_tool_use: true } }],
    [{ parallel_tool_calls: false }, { tool_choice: undefined, tools: undefined }],
    [{ reasoning_effort: 'none' }, { thinking: { type: 'disabled' }, output_config: undefined, leftOut: undefined }],
    [{ reasoning_effort: 'xhigh' }, { thinking: thinks, output_config: { effort: 'xhigh' } }],
    [{ reasoning_effort: 'vast' }, { thinking: undefined, output_config: undefined, leftOut: 'reasoning_effort' }],
    [
      {
        response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } },
        reasoning_effort: 'low',
      },
      { output_config: { effort: 'low', format: { type: 'json_schema', schema: { type: 'object' } } } },
    ],
  ])('%j', (options, expected) => {
    const sent = toMessages('chat', { messages, ...options });
    expect(Object.fromEntries(Object.keys(expected).map((name) => [name, sent[name]]))).toEqual(expected);
  });

  test('reasoning in foreign seals is named as left out', () => {
    const foreign = [
      { type: 'reasoning.encrypted', data: 'svc1.AAAA', index: 0 },
      { type: 'reasoning.text', text: 'Hm.', signature: 'another vendor’s' },
    ];
    const { messages, leftOut } = toMessages('chat', {
      messages: [user('a'), { ...said('b'), reasoning_details: foreign }, user('c')],
    });
    expect(messages[1].content).toEqual([text('b')]);
    expect(leftOut).toBe('messages[1].reasoning_details[0], messages[1].reasoning_details[1]');
  });

  test.each(['reasoning_content', 'reasoning', 'reasoning_details'])(
    'reasoning that comes back as plain text is left out: %s',
    (member) => {
      const { messages, leftOut } = toMessages('chat', {
        messages: [user('a'), { ...said('b'), [member]: 'Hm.' }, user('c')],
      });
      expect([messages[1].content, leftOut]).toEqual([[text('b')], `messages[1].${member}`]);
    },
  );

  test('thinking stays on while the model continues from calls, unless they follow unsigned reasoning', () => {
    const calls = { ...said(null), tool_calls: [called('a', '{}')] };
    const goOnFrom = (turn: object, ...more: object[]) => {
      const { thinking, leftOut } = toMessages('chat', {
        ...{ reasoning_effort: 'high', tools: [f] },
        messages: [user('a'), turn, result('a', 'b'), ...more],
      });
      return [thinking?.type, leftOut];
    };
    expect(goOnFrom(calls)).toEqual(['adaptive', undefined]);
    const unsigned = { ...calls, reasoning_content: 'Hm.' };
    expect(goOnFrom(unsigned)).toEqual([undefined, 'reasoning_effort, messages[1].reasoning_content']);
    expect(goOnFrom(unsigned, user(' '))).toEqual(goOnFrom(unsigned));
  });

  describe('its own reasoning', () => {
    const reasoningBlock = { type: 'thinking', thinking: 'Hm.', signature: signatureOf('Hm.') };
    const details = [
      {
        type: 'reasoning.encrypted',
        data: seals.seal('chat', toSealedBlock(JSON.stringify(reasoningBlock))),
        index: 0,
      },
    ];
    const calls = { ...said(null), tool_calls: [called('a', '{}')], reasoning_details: details };
    const looping = [user('a'), { ...said('b'), reasoning_details: details }, user('c'), calls, result('a', 'd')];
    const contents = (options: object) => {
      const { messages: sent, leftOut } = toMessages('chat', { tools: [f], messages: looping, ...options });
      return [...[1, 3].map((at) => sent[at].content.map(({ type }: { type: string }) => type)), leftOut];
    };

    test('is replayed', () => {
      const all = [['thinking', 'text'], ['thinking', 'tool_use'], undefined];
      expect(contents({})).toEqual(all);
      expect(contents({ reasoning_effort: 'high' })).toEqual(all);
    });

    test.each([
      ['the rest is replayed', toSealedBlock(JSON.stringify(reasoningBlock)), ['thinking', 'text']],
      ['that may be all', '', ['text']],
    ])('is left out where its provider would refuse it: %s', (_, valid, types) => {
      const reasoning_details = [{ type: 'reasoning.encrypted', data: seals.seal('chat', valid + voidContent) }];
      const { messages: sent, leftOut } = toMessages('chat', {
        messages: [user('a'), { ...said('b'), reasoning_details }, user('c')],
      });
      expect(sent[1].content.map(({ type }: { type: string }) => type)).toEqual(types);
      expect(leftOut).toBe('messages[1].reasoning_details[0]');
    });

    test.each([
      ['none', { reasoning_effort: 'none' }, ''],
      ['vast', { reasoning_effort: 'vast' }, ', reasoning_effort'],
      ['high, which a forced call ends', { reasoning_effort: 'high', tool_choice: 'required' }, ', reasoning_effort'],
    ])('is not replayed while the model continues from calls without thinking: effort %s', (_, options, more) => {
      const leftOut = `messages[3].reasoning_details[0]${more}`;
      expect(contents(options)).toEqual([['thinking', 'text'], ['tool_use'], leftOut]);
    });

    test('nor if an empty user message follows', () => {
      const options = { reasoning_effort: 'none', messages: [...looping, user(' ')] };
      expect(contents(options)).toEqual([['thinking', 'text'], ['tool_use'], 'messages[3].reasoning_details[0]']);
    });

    test('nor before any of these calls, if the last reasoning is unsigned', () => {
      const last = [{ ...calls, reasoning_details: undefined, reasoning_content: 'Hm.' }, result('a', 'e')];
      const leftOut = 'reasoning_effort, messages[3].reasoning_details[0], messages[5].reasoning_content';
      const options = { reasoning_effort: 'high', messages: [...looping, ...last] };
      const { messages: sent, ...rest } = toMessages('chat', options);
      expect([sent[3].content, sent[5].content]).toMatchObject([[{ type: 'tool_use' }], [{ type: 'tool_use' }]]);
      expect([rest.thinking, rest.leftOut]).toEqual([undefined, leftOut]);
    });

    test('is not replayed if nothing follows it, as upstreams refuse that', () => {
      const only = { ...said(''), reasoning_details: details };
      const { messages: sent, leftOut } = toMessages('chat', { messages: [user('a'), only, user('b')] });
      expect([sent.length, leftOut]).toEqual([2, 'messages[1].reasoning_details[0]']);
    });
  });
});

test('tools of responses become functions', () => {
  const patch = {
    type: 'custom',
    name: 'patch',
    description: 'Patch.',
    format: { type: 'grammar', syntax: 'lark', definition: 'x' },
  };
  const space = {
    type: 'namespace',
    name: 'n',
    tools: [{ type: 'function', name: 'g', parameters: { type: 'object' } }],
  };
  const { tools, messages, leftOut } = toMessages('responses', {
    tools: [patch, space, { type: 'web_search' }],
    input: [
      user('a'),
      { type: 'custom_tool_call', call_id: 'a', name: 'patch', input: 'x' },
      { type: 'custom_tool_call_output', call_id: 'a', output: 'done' },
    ],
  });
  expect(tools).toMatchObject([
    { name: 'patch', description: expect.stringContaining('grammar (lark)'), input_schema: { required: ['input'] } },
    { name: 'n__g', input_schema: { type: 'object' } },
  ]);
  expect(messages[1].content).toEqual([{ type: 'tool_use', id: 'a', name: 'patch', input: { input: 'x' } }]);
  expect(leftOut).toBe('tools[0].format, tools[2]');
});

describe('where the operator says so', () => {
  const g = { type: 'function', function: { name: 'g' } };
  const mark = { cache_control: { type: 'ephemeral' } };
  const marked = <T extends object>(given: T) => ({ ...given, ...mark });
  interface Marked {
    readonly cache_control?: unknown;
  }
  /** The places of cache marks in what is sent. */
  function marksOf(body: object, cacheMarks = true) {
    const { tools = [], system: instructions = [], messages, leftOut } = toMessages('chat', body, { cacheMarks });
    expect(leftOut).toBeUndefined();
    const said: [number, Marked[]][] = messages.map(({ content }: { content: Marked[] }, n: number) => [n, content]);
    return [['tools', tools], ['system', instructions], ...said].flatMap(([name, blocks]) =>
      blocks.flatMap(({ cache_control: given }: Marked, n: number) =>
        given === undefined ? [] : [[`${name}.${n}`, given]],
      ),
    );
  }
  const at = (...places: readonly string[]) => places.map((place) => [place, { type: 'ephemeral' }]);

  test('tools, instructions and the conversation are marked for caching', () => {
    const messages = [system('a'), system('b'), user('c'), said('d'), user([text('e'), text('f')])];
    expect(marksOf({ tools: [f, g], messages })).toEqual(at('tools.1', 'system.1', '2.1'));
    expect(marksOf({ tools: [f, g], messages }, false)).toEqual([]);
    const calls = [user('a'), { ...said(null), tool_calls: [called('x', '{}')] }, result('x', 'b')];
    expect(marksOf({ messages: calls })).toEqual(at('2.0'));
  });

  const image = { type: 'image_url', image_url: { url: 'https://a.example/a.png' } };
  const pdf = { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBE' } };
  const turn = { ...said('d'), tool_calls: [called('x', '{}'), called('y', '{}')] };
  const chat: object[] = [
    system('a'),
    user('c'),
    turn,
    result('x', 'e'),
    result('y', [text('f'), text('g')]),
    user('h'),
  ];

  test.each<[what: string, places: string[], body: object]>([
    ['a tool', ['tools.0'], { tools: [marked(f), g], messages: chat }],
    ['a function', ['tools.0'], { tools: [{ ...f, function: marked(f.function) }], messages: chat }],
    ['instructions', ['system.0'], { messages: [marked(system('a')), system('b'), user('c')] }],
    ['a text of instructions', ['system.0'], { messages: [system([marked(text('a')), text('b')]), user('c')] }],
    ['a message, at its end', ['0.1'], { messages: [marked(user([text('a'), text('b')])), said('c'), user('d')] }],
    ['parts', ['0.0', '0.2'], { messages: [user([marked(image), text('a'), marked(pdf)]), said('b'), user('c')] }],
    ['what the model said', ['1.0'], { messages: [user('a'), said([marked(text('b')), text('c')]), user('d')] }],
    ['a message of the model', ['1.1'], { messages: [user('a'), marked(said([text('b'), text('c')])), user('d')] }],
    [
      'a call',
      ['1.2'],
      { messages: chat.with(2, { ...turn, tool_calls: [called('x', '{}'), marked(called('y', '{}'))] }) },
    ],
    ['a result', ['2.0'], { messages: chat.with(3, marked(result('x', 'e'))) }],
    ['part of a result, at its end', ['2.1'], { messages: chat.with(4, result('y', [marked(text('f')), text('g')])) }],
    [
      'two messages that become one',
      ['0.0', '0.1'],
      { messages: [marked(user('a')), marked(system('b')), said('c'), user('d')] },
    ],
  ])('the client’s own marks are used instead: %s', (_what, places, body) => {
    expect(marksOf(body)).toEqual(at(...places));
    expect(marksOf(body, false)).toEqual([]);
  });

  test('only the last four are sent, as upstreams refuse more', () => {
    const messages = [system([marked(text('a')), marked(text('b'))]), ...['c', 'd'].map((one) => marked(user(one)))];
    expect(marksOf({ tools: [marked(f)], messages })).toEqual(at('system.0', 'system.1', '0.0', '1.0'));
    expect(marksOf({ tools: [marked(f)], messages: messages.slice(1) })).toEqual(at('tools.0', '0.0', '1.0'));
  });

  test('a mark on an empty text is left out with it', () => {
    const empty = marked(text(' '));
    const messages = [system([empty, text('a')]), user([empty, text('b')]), said([empty, text('c')]), user('d')];
    expect(marksOf({ messages })).toEqual(at('system.0', '2.0'));
    expect(marksOf({ messages: [...messages, marked(user('e')), said('f'), user('g')] })).toEqual(at('3.0'));
  });

  test('the client can’t choose the TTL, as the operator pays for it', () => {
    const content = [{ ...text('a'), cache_control: { type: 'ephemeral', ttl: '1h' } }, text('b')];
    expect(marksOf({ messages: [user(content)] })).toEqual(at('0.0'));
  });

  test.each<[what: string, given: object, tool?: object]>([
    ['a mark of another type', { ...text('a'), cache_control: { type: 'forever' } }],
    ['no type', { ...text('a'), cache_control: {} }],
    ['null', { ...text('a'), cache_control: null }],
    ['no object', { ...text('a'), cache_control: 'ephemeral' }],
    ['a text that mentions it', text(JSON.stringify(mark))],
    ['a schema that has it', text('a'), { name: 'f', parameters: { type: 'object', ...mark, properties: mark } }],
  ])('what is no mark leaves the default marks: %s', (_what, given, tool = f.function) => {
    const body = { tools: [{ type: 'function', function: tool }], messages: [user([given, text('b')])] };
    expect(marksOf(body).map(([place]) => place)).toMatchObject(['tools.0', expect.stringMatching(/^0\.[01]$/)]);
  });
});
