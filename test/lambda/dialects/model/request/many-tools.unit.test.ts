import { expect, test } from '@jest/globals';
import { toUpstream } from './translate.ts';

const many = <T>(count: number, one: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => one(at));
const chat = (at: number) => ({ type: 'function', function: { name: `f${at}` } });
const legacy = (at: number) => ({ name: `g${at}` });
const own = (at: number) => ({ type: 'function', name: `f${at}` });
const deferred = (at: number) => ({ ...own(at), defer_loading: true });
const namespace = (tools: object[]) => ({ type: 'namespace', name: 'n', tools });
const search = { type: 'tool_search', execution: 'client' };
const searched = (id: string, tools: object[]) => [
  { type: 'tool_search_call', call_id: id, execution: 'client', arguments: {} },
  { type: 'tool_search_output', call_id: id, execution: 'client', tools },
];
const additional = (tools: object[]) => ({ type: 'additional_tools', tools });
const hello = { role: 'user', content: 'hello' };
const used = [
  { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] },
  {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'tool_reference', tool_name: 'f1' }] }],
  },
];

/** Requests with this number of tools. */
const requests: readonly (readonly [
  place: string,
  dialect: 'chat' | 'responses' | 'messages',
  ask: (count: number) => object,
])[] = [
  ['tools[10000]', 'chat', (count) => ({ messages: [hello], tools: many(count, chat) })],
  [
    'functions[9990]',
    'chat',
    (count) => ({ messages: [hello], tools: many(10, chat), functions: many(count - 10, legacy) }),
  ],
  ['tools[10000]', 'responses', (count) => ({ input: 'hello', tools: many(count, own) })],
  ['tools[10000]', 'responses', (count) => ({ input: 'hello', tools: [search, ...many(count - 1, deferred)] })],
  [
    'tools[1].tools[9999]',
    'responses',
    (count) => ({ input: 'hello', tools: [own(0), namespace(many(count - 1, own))] }),
  ],
  [
    'tools[10000]',
    'responses',
    (count) => ({ input: 'hello', tools: [own(0), ...many(count - 1, () => ({ type: 'web_search' }))] }),
  ],
  [
    'input[1].tools[0].tools[9999]',
    'responses',
    (count) => ({ tools: [search], input: [...searched('a', [namespace(many(count - 1, own))]), hello] }),
  ],
  [
    'input[3].tools[4999]',
    'responses',
    (count) => ({
      tools: [search],
      input: [...searched('a', many(5_000, own)), ...searched('b', many(count - 5_001, own)), hello],
    }),
  ],
  [
    'input[0].tools[9999]',
    'responses',
    (count) => ({ tools: [own(0)], input: [additional(many(count - 1, own)), hello] }),
  ],
  [
    'tools[10000]',
    'messages',
    (count) => ({ messages: [hello], tools: many(count, own).map(({ name }) => ({ name })) }),
  ],
  [
    'tools[10000]',
    'messages',
    (count) => ({
      messages: [hello, ...used],
      tools: [{ name: 'f' }, ...many(count - 1, (at) => ({ name: `f${at}`, defer_loading: true }))],
    }),
  ],
];

/** Readers count the tools, whatever the upstream speaks. */
const attempt = (dialect: (typeof requests)[number][1], request: object) => {
  try {
    toUpstream(dialect === 'messages' ? 'chat' : 'messages', dialect, { model: 'svc', max_tokens: 9, ...request });
    return 'translated';
  } catch (error) {
    return error;
  }
};

test.each(requests)('a request has at most 10,000 tools: the next is refused, %s of %s', (place, dialect, ask) => {
  expect(attempt(dialect, ask(10_000))).toBe('translated');
  expect(attempt(dialect, ask(10_001))).toMatchObject({
    code: 'invalid_request',
    status: 400,
    message: `${place} is one tool too many: a request has at most 10000, those that searches found included. Send fewer.`,
  });
});
