import { describe, expect, test } from '@jest/globals';
import type { UpstreamOptions } from '../../../../../lambda/dialects/model/request/request-writer.ts';
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
/** Means nothing to a model. */
const marked = { detail: 'high', prompt_cache_breakpoint: { mode: 'explicit' } };
const reasoningBlock = (text: string) => ({ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text }] });

const agent = { type: 'agent_message' };
const encrypted = { type: 'encrypted_content', encrypted_content: 'gAAA' };

const shown = (url: string) => `[{"type":"image_url","image_url":{"url":"${url}","detail":"high"}}]`;

const translate = (input: unknown, upstream?: Partial<UpstreamOptions>, more?: object) =>
  toChat('responses', { model: 'svc', input, ...more }, upstream);

describe('the items of a responses request', () => {
  test.each<[what: string, input: unknown, messages: string[], leftOut?: string]>([
    [
      'what a user says, message by message: texts, which are never joined, images with their detail, files',
      [
        ...[user, { role: 'user', content: 'go' }, from(inputText('go')), from(inputText('a'), inputText('b'))],
        from(inputText('see'), image('data:image/png;base64,AA==')),
        from(
          { ...marked, type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' },
          { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
        ),
        from(),
      ],
      [
        ...['user: go', 'user: go', 'user: go', 'user: [a][b]', `user: [see]${shown('data:image/png;base64,AA==')}`],
        'user: [{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AA=="}}]' +
          '[{"type":"input_audio","input_audio":{"data":"AA==","format":"wav"}}]',
        'user: ',
      ],
    ],
    [
      'an image detail that chat does not have is left out, but not the image',
      [from({ ...image('data:1'), detail: 'original' }, { type: 'input_image', image_url: 'data:2' })],
      ['user: [{"type":"image_url","image_url":{"url":"data:1"}}][{"type":"image_url","image_url":{"url":"data:2"}}]'],
      'input[0].content[0].detail',
    ],
    [
      'a run of reasoning, texts and calls, as one message',
      [
        ...[
          user,
          reasoningBlock('hm'),
          say('assistant', 'first'),
          call('c1'),
          say('assistant', 'then'),
          call('c2', 'stop'),
        ],
        ...[output('c1'), output('c2')],
      ],
      [
        ...['user: go', 'assistant: [first][then] c1=run({}) c2=stop({}) reasoning_content=hm'],
        ...['tool c1: c1 done', 'tool c2: c2 done'],
      ],
    ],
    [
      'outputs in another order than their calls, and after more messages',
      [
        ...[call('c1'), call('c2'), call('c3'), output('c2'), output('c1')],
        ...[
          { role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] },
          user,
          reasoningBlock('hm'),
          output('c3'),
        ],
      ],
      [
        ...['assistant: null c1=run({}) c2=run({}) c3=run({})', 'tool c1: c1 done', 'tool c2: c2 done'],
        ...['tool c3: c3 done', 'assistant: null refusal=no', 'user: go', 'assistant:  reasoning_content=hm'],
      ],
    ],
    [
      'ids that repeat: the first output belongs to the first call',
      [call('0', 'a'), output('0', 'A'), call('0', 'b'), call('0', 'c'), output('0', 'B'), output('0', 'C')],
      ['assistant: null 0=a({})', 'tool 0: A', 'assistant: null 0=b({}) 0=c({})', 'tool 0: B', 'tool 0: C'],
    ],
    [
      'arguments with their spelling: none, or a number beyond double precision, in an odd order',
      [call('c1', 'run', ''), call('c2', 'run', '{"z":12345678901234567890,"a":1.0}'), output('c1'), output('c2')],
      [
        'assistant: null c1=run({}) c2=run({"z":12345678901234567890,"a":1.0})',
        ...['tool c1: c1 done', 'tool c2: c2 done'],
      ],
    ],
    [
      'calls of a custom tool, and of a namespace that is no longer offered',
      [
        { type: 'custom_tool_call', call_id: 'c1', name: 'apply_patch', input: '*** "Begin"\n' },
        { ...call('c2'), namespace: 'mcp__files' },
        { type: 'custom_tool_call_output', call_id: 'c1', output: [inputText('a'), inputText('b')] },
        output('c2'),
      ],
      [
        'assistant: null c1=apply_patch({"input":"*** \\"Begin\\"\\n"}) c2=mcp__files__run({})',
        ...['tool c1: [a][b]', 'tool c2: c2 done'],
      ],
    ],
    [
      'images in outputs, which follow the whole run, with what the user says next in the same message',
      [
        ...[call('c1'), call('c2'), output('c1', [image('data:1'), inputText('seen'), image('data:2')])],
        ...[output('c2', [image('data:3')]), user, user],
      ],
      [
        'assistant: null c1=run({}) c2=run({})',
        'tool c1: [[image 1 of 2: see the next message]][seen][[image 2 of 2: see the next message]]',
        'tool c2: [image 1 of 1: see the next message]',
        ...[`user: ${shown('data:1')}${shown('data:2')}${shown('data:3')}[go]`, 'user: go'],
      ],
    ],
    [
      'messages from another agent, of which one is encrypted',
      [
        { ...agent, id: 'am_1', author: '/root', recipient: '/root/a', content: [inputText('go'), encrypted] },
        { ...agent, content: [encrypted] },
      ],
      ['user: go'],
      'input[0].content[1], input[1].content[0]',
    ],
    [
      'a hosted search, and an image without its result',
      [
        user,
        { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search' } },
        { type: 'image_generation_call', id: 'ig_1', status: 'failed', result: null },
      ],
      ['user: go'],
      'input[1], input[2]',
    ],
  ])('%s', (...[, input, messages, leftOut]) => {
    const chat = translate(input);
    expect(chat.messages).toEqual(messages);
    expect(chat.leftOut).toBe(leftOut);
  });
});

describe('reasoning that the client sends back', () => {
  const sealed = seals.seal('responses', 'what it really thought');
  const spoken = [user, reasoningBlock('old'), call('c1'), output('c1'), user];
  const reasoningOf = (input: unknown[], upstream?: Partial<UpstreamOptions>, more?: object) => {
    const { body, leftOut } = translate(input, upstream, more);
    return [body.messages.flatMap(({ reasoning_content = [] }) => reasoning_content), leftOut];
  };

  test.each<[what: string, item: object, text: string[], leftOut?: string]>([
    [
      'content before a summary',
      { ...reasoningBlock('shown'), content: [{ type: 'reasoning_text', text: 'whole' }] },
      ['whole'],
    ],
    [
      'this gateway’s seal before both',
      { ...reasoningBlock('shown'), encrypted_content: sealed },
      ['what it really thought'],
    ],
    [
      'a foreign seal alone',
      { type: 'reasoning', summary: [], encrypted_content: 'gAAA' },
      [],
      'input[1].encrypted_content',
    ],
    [
      'several texts',
      { type: 'reasoning', summary: [...reasoningBlock('a').summary, ...reasoningBlock('b').summary] },
      ['a\n\nb'],
    ],
  ])('%s', (...[, item, text, leftOut]) => {
    expect(reasoningOf([user, item, call('c1'), output('c1')])).toEqual([text, leftOut]);
  });

  test.each<[what: string, upstream: Partial<UpstreamOptions>, more: object, text: string[]]>([
    ['is replayed from this turn only, if the client says so', {}, { reasoning: { context: 'current_turn' } }, []],
    ['is never replayed, if the operator says so', { replay: 'never' }, {}, []],
  ])('%s', (_what, upstream, more, text) => {
    expect(reasoningOf(spoken, upstream, more)).toEqual([text, undefined]);
  });

  test('is replayed under the other name that servers have for it, if the operator says so', () => {
    const { messages } = translate(spoken, { replay: 'back-as-reasoning' });
    expect(messages[1]).toBe('assistant: null c1=run({}) reasoning=old');
  });

  test('only 1,000 seals are opened, and the rest is named as left out', () => {
    const spoken = Array.from({ length: 1_001 }, (_, turn) => [
      { type: 'reasoning', summary: [], encrypted_content: sealed },
      ...[call(`c${turn}`), output(`c${turn}`)],
    ]);
    const [reasoning, leftOut] = reasoningOf([user, ...spoken.flat()]);
    expect([new Set(reasoning), reasoning?.length, leftOut]).toEqual([
      new Set(['what it really thought']),
      1_000,
      'input[3001].encrypted_content',
    ]);
  });

  test('a foreign seal is not named as left out if no reasoning is replayed', () => {
    const items = [user, { type: 'reasoning', summary: [], encrypted_content: 'gAAA' }, call('c1'), output('c1')];
    expect(reasoningOf(items, { replay: 'never' })).toEqual([[], undefined]);
  });
});

describe('instructions and system messages', () => {
  const developer = say('developer', 'rule');

  test.each<[what: string, input: unknown, messages: string[], more?: object, upstream?: Partial<UpstreamOptions>]>([
    [
      'both, as parts of one',
      [developer, say('system', 'b'), user],
      ['system: [be][rule][b]', 'user: go'],
      { instructions: 'be' },
    ],
    ['after a user message: into that message', [user, developer], ['user: [go][rule]']],
    [
      'after the assistant: before the next user message',
      [user, say('assistant', 'ok'), developer, user],
      ['user: go', 'assistant: ok', 'user: [rule][go]'],
    ],
    [
      'between a call and its result: after the result',
      [user, call('c1'), developer, output('c1')],
      ['user: go', 'assistant: null c1=run({})', 'tool c1: [c1 done][rule]'],
    ],
    [
      'kept where they are',
      [user, developer, developer],
      ['user: go', 'system: rule', 'system: rule'],
      {},
      { systemTurns: 'keep' },
    ],
  ])('%s', (...[, input, messages, more, upstream]) => {
    expect(translate(input, upstream, more).messages).toEqual(messages);
  });
});

test('images in outputs stay in place or are refused, as the operator says', () => {
  const input = [user, call('c1'), output('c1', [image('data:1')])];
  expect(translate(input, { toolImages: 'inline' }).messages[2]).toBe(`tool c1: ${shown('data:1')}`);
  expect(refusalOf('responses', { model: 'svc', input }, { toolImages: 'refuse' })).toBe(
    "input[2].output[0] can't stand in a tool's output with this model. Send text.",
  );
});

describe('items that are refused', () => {
  const unknown = "is of a kind that this model can't take.";
  const full = 'Send the full history.';
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
    [
      [{ type: 'image_generation_call', result: 'AAAA' }],
      'input[0] (image_generation_call) holds an image. Send it as an input_image of the user.',
    ],
    [
      [{ role: 'user', content: [{ type: 'input_video', video_url: 'x' }] }],
      `input[0].content[0] (input_video) ${unknown} Send text instead.`,
    ],
    [
      [from({ type: 'input_image', file_id: 'file_1' })],
      'input[0].content[0].file_id is not supported with this model: its content is stored elsewhere. Send the content itself.',
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
