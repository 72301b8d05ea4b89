import { describe, expect, test } from '@jest/globals';
import type { ChatUpstream } from '../../../../lambda/translate/request/writing.ts';
import { refusalOf, seals, toChat } from './translate.ts';

const say = (role: string, text: string) => ({ type: 'message', role, content: text });
const user = say('user', 'go');
const call = (call_id: string, name = 'run', given = '{}') => ({
  ...{ type: 'function_call', call_id, name, arguments: given },
});
const output = (call_id: string, output: unknown = `${call_id} done`) => ({
  ...{ type: 'function_call_output', call_id, output },
});
const from = (...content: unknown[]) => ({ role: 'user', content });
const inputText = (text: string) => ({ type: 'input_text', text });
const image = (url: string) => ({ type: 'input_image', image_url: url, detail: 'high' });
/** Says nothing to a model. */
const marked = { detail: 'high', prompt_cache_breakpoint: { mode: 'explicit' } };
const thought = (text: string) => ({ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text }] });

const agent = { type: 'agent_message' };
const encrypted = { type: 'encrypted_content', encrypted_content: 'gAAA' };

const called = (id: string, name = 'run', given = '{}') => ({
  ...{ id, type: 'function', function: { name, arguments: given } },
});
const tool = (id: string, content: unknown = `${id} done`) => ({ role: 'tool', tool_call_id: id, content });
const text = (text: string) => ({ type: 'text', text });
const shown = (url: string) => ({ type: 'image_url', image_url: { url } });
const asked = { role: 'user', content: 'go' };
const calls = (...tool_calls: unknown[]) => ({ role: 'assistant', content: null, tool_calls });

const translate = (input: unknown, upstream?: Partial<ChatUpstream>, more?: object) =>
  toChat('responses', { model: 'svc', input, ...more }, upstream);

type Case = [what: string, input: unknown, messages: unknown[], leftOut?: string];

describe('the items of a responses request', () => {
  test.each<Case>([
    [
      'what a user says, message by message: texts, which are never joined, images without their detail, files',
      [
        user,
        { role: 'user', content: 'go' },
        ...[from(inputText('go')), from(inputText('a'), inputText('b'))],
        from(inputText('see'), image('data:image/png;base64,AA==')),
        from(
          { ...marked, type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' },
          { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
        ),
        from(),
      ],
      [
        ...[asked, asked, asked, from(text('a'), text('b'))],
        from(text('see'), shown('data:image/png;base64,AA==')),
        from(
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' } },
          { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
        ),
        { role: 'user', content: '' },
      ],
    ],
    [
      'a run of reasoning, texts and calls, as one message',
      [
        ...[user, thought('hm'), say('assistant', 'first'), call('c1'), say('assistant', 'then'), call('c2', 'stop')],
        ...[output('c1'), output('c2')],
      ],
      [
        asked,
        {
          ...{ role: 'assistant', content: [text('first'), text('then')], reasoning_content: 'hm' },
          tool_calls: [called('c1'), called('c2', 'stop')],
        },
        ...[tool('c1'), tool('c2')],
      ],
    ],
    [
      'outputs in another order than their calls, and after more talk',
      [
        ...[user, call('c1'), call('c2'), call('c3'), output('c2'), output('c1')],
        ...[say('assistant', 'well'), user, output('c3')],
      ],
      [
        ...[asked, calls(called('c1'), called('c2'), called('c3')), tool('c1'), tool('c2'), tool('c3')],
        ...[{ role: 'assistant', content: 'well' }, asked],
      ],
    ],
    [
      'ids that are used again: the first output is that of the first call',
      [user, call('0', 'a'), output('0', 'A'), call('0', 'b'), call('0', 'c'), output('0', 'B'), output('0', 'C')],
      [
        ...[asked, calls(called('0', 'a')), tool('0', 'A')],
        ...[calls(called('0', 'b'), called('0', 'c')), tool('0', 'B'), tool('0', 'C')],
      ],
    ],
    [
      'arguments as they are written: none, or a number that no double holds in an odd order',
      [
        ...[user, call('c1', 'run', ''), call('c2', 'run', '{"z":12345678901234567890,"a":1.0}')],
        ...[output('c1'), output('c2')],
      ],
      [
        asked,
        calls(called('c1'), called('c2', 'run', '{"z":12345678901234567890,"a":1.0}')),
        ...[tool('c1'), tool('c2')],
      ],
    ],
    [
      'calls of a custom tool, and within a namespace that is not offered any more',
      [
        user,
        { type: 'custom_tool_call', call_id: 'c1', name: 'apply_patch', input: '*** "Begin"\n' },
        { ...call('c2'), namespace: 'mcp__files' },
        { type: 'custom_tool_call_output', call_id: 'c1', output: [inputText('a'), inputText('b')] },
        output('c2'),
      ],
      [
        asked,
        calls(called('c1', 'apply_patch', '{"input":"*** \\"Begin\\"\\n"}'), called('c2', 'mcp__files__run')),
        ...[tool('c1', [text('a'), text('b')]), tool('c2')],
      ],
    ],
    [
      'images in outputs, which follow the whole run, with what the user says next in the same message',
      [
        user,
        call('c1'),
        call('c2'),
        output('c1', [image('data:1'), inputText('seen'), image('data:2')]),
        output('c2', [image('data:3')]),
        ...[user, user],
      ],
      [
        asked,
        calls(called('c1'), called('c2')),
        tool('c1', [
          text('[image 1 of 2: see the next message]'),
          text('seen'),
          text('[image 2 of 2: see the next message]'),
        ]),
        tool('c2', '[image 1 of 1: see the next message]'),
        from(shown('data:1'), shown('data:2'), shown('data:3'), text('go')),
        asked,
      ],
    ],
    [
      'messages from another agent, of which one is for its maker only',
      [
        { ...agent, id: 'am_1', author: '/root', recipient: '/root/a', content: [inputText('go'), encrypted] },
        { ...agent, content: [encrypted] },
      ],
      [asked],
      'input[0].content[1], input[1].content[0]',
    ],
    [
      'a search at the vendor and an image without its result',
      [
        user,
        { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search' } },
        { type: 'image_generation_call', id: 'ig_1', status: 'failed', result: null },
      ],
      [asked],
      'input[1], input[2]',
    ],
  ])('%s', (...[, input, messages, leftOut]) => {
    const chat = translate(input);
    expect(chat.body.messages).toEqual(messages);
    expect(chat.leftOut).toBe(leftOut);
  });
});

describe('reasoning that comes back', () => {
  const sealed = seals.seal('responses', 'what it really thought');
  const spoken = [user, thought('old'), call('c1'), output('c1'), user];
  const reasoningOf = (input: unknown[], upstream?: Partial<ChatUpstream>, more?: object) => {
    const { body, leftOut } = translate(input, upstream, more);
    return [body.messages.flatMap(({ reasoning_content = [] }) => reasoning_content), leftOut];
  };

  test.each<[what: string, item: object, text: string[], leftOut?: string]>([
    [
      'content before a summary',
      { ...thought('shown'), content: [{ type: 'reasoning_text', text: 'whole' }] },
      ['whole'],
    ],
    ['a seal of ours before both', { ...thought('shown'), encrypted_content: sealed }, ['what it really thought']],
    [
      'a foreign seal alone',
      { type: 'reasoning', summary: [], encrypted_content: 'gAAA' },
      [],
      'input[1].encrypted_content',
    ],
    ['several texts', { type: 'reasoning', summary: [...thought('a').summary, ...thought('b').summary] }, ['a\n\nb']],
  ])('%s', (...[, item, text, leftOut]) => {
    expect(reasoningOf([user, item, call('c1'), output('c1')])).toEqual([text, leftOut]);
  });

  test('several of one turn are joined by a blank line', () => {
    const thoughts = [thought('a"'), { ...thought('-'), encrypted_content: sealed }, thought('\\b')];
    expect(reasoningOf([user, ...thoughts, call('c1'), output('c1')])).toEqual([
      ['a"\n\nwhat it really thought\n\n\\b'],
      undefined,
    ]);
  });

  test.each<[what: string, upstream: Partial<ChatUpstream>, more: object, text: string[]]>([
    ['goes back from this turn only, if the client says so', {}, { reasoning: { context: 'current_turn' } }, []],
    ['never goes back, if the operator says so', { replay: 'never' }, {}, []],
  ])('%s', (_what, upstream, more, text) => {
    expect(reasoningOf(spoken, upstream, more)).toEqual([text, undefined]);
  });

  test('goes back under the other name that servers have for it, if the operator says so', () => {
    const { body } = translate(spoken, { replay: 'back-as-reasoning' });
    expect(body.messages.filter(({ role }) => role === 'assistant')).toEqual([
      expect.objectContaining({ reasoning: 'old' }),
    ]);
    expect(reasoningOf(spoken, { replay: 'back-as-reasoning' })).toEqual([[], undefined]);
  });

  test('a foreign seal is not missed where nothing goes back', () => {
    const items = [user, { type: 'reasoning', summary: [], encrypted_content: 'gAAA' }, call('c1'), output('c1')];
    expect(reasoningOf(items, { replay: 'never' })).toEqual([[], undefined]);
  });
});

describe('instructions and system messages', () => {
  const system = { role: 'system', content: 'rule' };
  const developer = say('developer', 'rule');

  test.each<[what: string, input: unknown, more: object, upstream: Partial<ChatUpstream>, messages: unknown[]]>([
    [
      'both, as parts of one',
      [developer, say('system', 'b'), user],
      { instructions: 'be' },
      {},
      [{ role: 'system', content: [text('be'), text('rule'), text('b')] }, asked],
    ],
    ['after a user: into that message', [user, developer], {}, {}, [from(text('go'), text('rule'))]],
    [
      'after the assistant: before what the user says next',
      [user, say('assistant', 'ok'), developer, user],
      {},
      {},
      [asked, { role: 'assistant', content: 'ok' }, from(text('rule'), text('go'))],
    ],
    [
      'between a call and its result: after the result',
      [user, call('c1'), developer, output('c1')],
      {},
      {},
      [asked, calls(called('c1')), tool('c1', [text('c1 done'), text('rule')])],
    ],
    ['kept where they are', [user, developer, developer], {}, { systemTurns: 'keep' }, [asked, system, system]],
  ])('%s', (_what, input, more, upstream, messages) => {
    expect(translate(input, upstream, more).body.messages).toEqual(messages);
  });
});

describe('images in outputs', () => {
  const input = [user, call('c1'), output('c1', [image('data:1')])];

  test('stay where they are, if the upstream can read them there', () => {
    expect(translate(input, { toolImages: 'inline' }).body.messages[2]).toEqual(tool('c1', [shown('data:1')]));
  });

  test('are refused, if the operator says so', () => {
    expect(refusalOf('responses', { model: 'svc', input }, { toolImages: 'refuse' })).toBe(
      "input[2].output[0] can't stand in a tool's output with this model. Send text.",
    );
  });
});

describe('items that are refused', () => {
  const unknown = "is of a kind that this model can't take.";
  const [full, gone] = ['Send the full history.', 'and this model has none. Leave it out.'];
  test.each<[input: unknown, message: string]>([
    [[user, call('c1'), output('c1'), output('c1')], `input[3] answers c1, which no call before it waits for. ${full}`],
    [[user, call('c1'), user], 'input[1] is a call without its output. Send the output too, or leave the call out.'],
    [
      [{ type: 'compaction_trigger' }],
      `input[0] (compaction_trigger) is a history that only its maker can read. ${full}`,
    ],
    [
      [{ type: 'item_reference', id: 'msg_1' }],
      'input[0] (item_reference) refers to an item that is stored elsewhere. Send the item itself.',
    ],
    [
      [{ type: 'local_shell_call', call_id: 'c' }],
      'input[0] (local_shell_call) belongs to a tool that this model does not have. Offer a function instead.',
    ],
    [[{ type: 'mcp_call', id: 'c' }], `input[0] (mcp_call) belongs to a tool that runs at the vendor, ${gone}`],
    [
      [{ type: 'image_generation_call', result: 'AAAA' }],
      'input[0] (image_generation_call) holds an image. Send it as an input_image of the user.',
    ],
    [
      [{ role: 'user', content: [{ type: 'input_video', video_url: 'x' }] }],
      `input[0].content[0] (input_video) ${unknown} Send text instead.`,
    ],
    ...[
      { type: 'input_image', file_id: 'file_1' },
      { type: 'input_file', file_url: 'https://a.example/b.pdf' },
    ].map((part): [object[], string] => [
      [{ role: 'user', content: [part] }],
      `input[0].content[0].${Object.keys(part)[1]} is not supported with this model: its content is stored elsewhere. Send the content itself.`,
    ]),
    [
      [{ role: 'system', content: [image('data:1')] }],
      `input[0].content[0] (input_image) can't stand in instructions. Send it in a message of the user.`,
    ],
    [
      [{ role: 'assistant', content: [image('data:1')] }],
      `input[0].content[0] (input_image) can't stand in a message of the assistant. Send text.`,
    ],
    [['hello'], 'input[0] must be an object, not a string.'],
  ])('%j', (input, message) => {
    expect(refusalOf('responses', { model: 'svc', input })).toBe(message);
  });
});
