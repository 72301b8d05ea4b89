import { describe, expect, test } from '@jest/globals';
import { refusalOf, toChat } from './translate.ts';

const user = { role: 'user', content: 'go' };
const told = { role: 'assistant', content: 'ok' };
const own = (name: string, more: object = {}) => ({ name, input_schema: { type: 'object' }, ...more });
const sent = (name: string, more: object = {}) => ({
  type: 'function',
  function: { name, ...more, parameters: { type: 'object' } },
});
const named = (name: string) => ({ type: 'tool_reference', name });
const defined = (definition: object) => ({ type: 'tool_definition', definition });
const add = (tool: object) => ({ type: 'tool_addition', tool, cache_control: { type: 'ephemeral' } });
const remove = (tool: object) => ({ type: 'tool_removal', tool });
const system = (...content: object[]) => ({ role: 'system', content });
const effort = (effort: unknown, content?: unknown) => ({ role: 'system', content, output_config: { effort } });
const text = (text: string) => ({ type: 'text', text });

const request = (messages: object[], more: object = {}) => ({ model: 'svc', max_tokens: 9, messages, ...more });

describe('tool changes within a conversation', () => {
  const tools = [own('fetch'), own('find'), own('paint', { defer_loading: true })];
  const offeredAfter = (...changes: object[]) => {
    const { body, messages, leftOut } = toChat('messages', request([user, told, ...changes, user], { tools }));
    expect(messages).toEqual(['user: go', 'assistant: ok', 'user: go']);
    expect(leftOut).toBeUndefined();
    return body.tools;
  };
  const sing = own('sing', { description: 'sings', strict: true });

  test.each<[what: string, changes: object[], offered: object[] | undefined]>([
    ['nothing', [], [sent('fetch'), sent('find')]],
    ['a deferred tool comes last', [system(add(named('paint')))], [sent('fetch'), sent('find'), sent('paint')]],
    [
      'a tool with its definition',
      [system(add(defined(sing)))],
      [
        sent('fetch'),
        sent('find'),
        {
          ...sent('sing', { description: 'sings' }),
          function: { name: 'sing', description: 'sings', parameters: { type: 'object' }, strict: true },
        },
      ],
    ],
    ['one is removed', [system(remove(named('fetch')))], [sent('find')]],
    [
      'one is removed and added again',
      [system(remove(named('fetch'))), system(add(named('fetch')))],
      [sent('find'), sent('fetch')],
    ],
    [
      'one gets a new description',
      [system(add(defined(own('fetch', { description: 'b' }))))],
      [sent('fetch', { description: 'b' }), sent('find')],
    ],
    [
      'one that was added is referred to later',
      [system(add(defined(sing)), remove(named('sing'))), system(add(named('sing')))],
      [
        sent('fetch'),
        sent('find'),
        expect.objectContaining({ function: expect.objectContaining({ name: 'sing' }) }) as object,
      ],
    ],
    ['one is removed that was never offered', [system(remove(named('gone')))], [sent('fetch'), sent('find')]],
    ['all go', [system(remove(named('fetch')), remove(named('find')))], undefined],
  ])('%s', (_, changes, offered) => expect(offeredAfter(...changes)).toEqual(offered));

  test('beside a text, which the model reads', () => {
    const { messages } = toChat('messages', request([user, system(text('Paint.'), add(named('paint')))], { tools }));
    expect(messages).toEqual(['user: [go][Paint.]']);
  });

  test('also if every tool is deferred, and after a search', () => {
    const late = [own('paint', { defer_loading: true })];
    expect(toChat('messages', request([user, system(add(named('paint')))], { tools: late })).body.tools).toEqual([
      sent('paint'),
    ]);
    const found = { type: 'tool_result', tool_use_id: 't', content: [{ type: 'tool_reference', tool_name: 'paint' }] };
    const searched = [
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'find', input: {} }] },
      { role: 'user', content: [found] },
    ];
    const offered = (...changes: object[]) =>
      toChat('messages', request([user, ...searched, ...changes, user], { tools })).body.tools;
    expect(offered()).toEqual([sent('fetch'), sent('find'), sent('paint')]);
    expect(offered(system(remove(named('paint'))))).toEqual([sent('fetch'), sent('find')]);
  });

  test.each<[change: object, message: string]>([
    [add(named('gone')), 'messages[1].content[0].tool names a tool that is not among the tools. Add it to them.'],
    [
      add({ type: 'mcp_toolset_reference', server_name: 'a' }),
      'messages[1].content[0].tool names a tool of a server that runs at the vendor. Leave it out.',
    ],
    [
      remove({ type: 'whim' }),
      "messages[1].content[0].tool (whim) is of a kind that this model can't take. Leave it out.",
    ],
    [
      add(defined({ type: 'web_search_20250305', name: 'web_search' })),
      'messages[1].content[0].tool.definition (web_search_20250305) runs at the vendor, and this model has none. Leave it out of tools.',
    ],
    [{ type: 'tool_addition' }, 'messages[1].content[0] has no tool. Add it.'],
    [{ type: 'image' }, "messages[1].content[0] (image) can't stand in instructions. Send text."],
  ])('is refused with its place: %j', (change, message) => {
    expect(refusalOf('messages', request([user, system(change), user], { tools }))).toBe(message);
  });

  test('is not allowed in the instructions before it', () => {
    const message = "system[0] (tool_removal) can't stand in instructions. Send text.";
    expect(refusalOf('messages', request([user], { tools, system: [remove(named('find'))] }))).toBe(message);
  });

  test('a choice of a removed tool is refused', () => {
    const forced = { tools, tool_choice: { type: 'tool', name: 'find' } };
    const message = 'tool_choice names a tool that is not among the tools. Add it to them.';
    expect(refusalOf('messages', request([user, system(remove(named('find')))], forced))).toBe(message);
  });
});

describe('the effort that a conversation sets', () => {
  const first = { output_config: { effort: 'low' }, thinking: { type: 'adaptive' } };
  const asked = (messages: object[], more: object = first) => {
    const chat = toChat('messages', request(messages, more), {
      reasoning: 'reasoning_effort',
      levels: ['none', 'low', 'medium', 'high'],
    });
    return [chat.body.reasoning_effort, chat.messages.length, chat.leftOut];
  };

  test.each<[messages: object[], effort: string, turns: number, leftOut?: string]>([
    [[user], 'low', 1],
    [[user, told, effort('high', []), user], 'high', 3],
    [[user, told, effort('high'), user], 'high', 3],
    [[user, told, effort('high', []), effort('medium', [text('Think.')]), user], 'medium', 3],
    [[user, effort('high', [])], 'high', 1],
    [[effort('high', []), user], 'high', 1],
    [[user, effort('high', []), effort(null, []), { ...system(), output_config: {} }, user], 'high', 2],
    [[user, effort('none', [])], 'none', 1],
    [[user, effort('max', [])], 'high', 1, 'messages[1].output_config.effort'],
    [[user, { ...user, output_config: { effort: 'high' } }], 'low', 2, 'messages[1].output_config'],
    [[user, { ...effort('high', []), clear_at: 'never' }], 'high', 1, 'messages[1].clear_at'],
  ])('%j', (messages, ...expected) => {
    const [level, turns, leftOut] = asked(messages);
    expect([level, turns, leftOut]).toEqual([expected[0], expected[1], expected[2]]);
  });

  test('is the only configuration that it can set', () => {
    expect(asked([user, effort('high', [])], { thinking: { type: 'adaptive' } })[0]).toBe('high');
  });
});
