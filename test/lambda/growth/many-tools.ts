import type { DialectName } from '../../../lambda/dialects/names.ts';

/** Writes a request with at most so many tools, in about so many characters. */
type WriteTools = (size: number, most: number) => object;

const list = <T>(count: number, one: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => one(at));

/** A name that shares its beginning with all others and is long enough to be cut, as far as there is room for so many. */
const longName = (size: number, most: number) => {
  const letters = 'x'.repeat(Math.min(900, Math.max(1, Math.floor(size / most) - 200)));
  return (at: number): string => `${letters}${at}`;
};
const shortName = (at: number): string => `f${at}`;
/** A description that fills what is left. */
const filler = (size: number, most: number): string => 'y'.repeat(Math.max(1, Math.floor(size / most) - 200));

const own = (name: string) => ({ type: 'function', name });
const namespace = (name: string, tools: readonly object[]) => ({ type: 'namespace', name, tools });
const search = { type: 'tool_search', execution: 'client' };
const user = { role: 'user', content: 'a' };
const searched = (id: string, tools: readonly object[]) => [
  { type: 'tool_search_call', call_id: id, execution: 'client', arguments: {} },
  { type: 'tool_search_output', call_id: id, execution: 'client', tools },
];
const findAll = (tools: readonly object[]) => ({
  model: 'svc',
  tools: [search],
  input: [...searched('a', tools), user],
});
const chosen = (tools: readonly object[]) => ({ type: 'allowed_tools', mode: 'auto', tools });
const use = { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] };
const refer = (names: readonly string[]) => ({
  role: 'user',
  content: [
    {
      ...{ type: 'tool_result', tool_use_id: 't' },
      content: names.map((tool_name) => ({ type: 'tool_reference', tool_name })),
    },
  ],
});

const shapes: Readonly<Record<DialectName, Readonly<Record<string, WriteTools>>>> = {
  embeddings: {},
  chat: {
    'tools with long names': (size, most) => ({
      ...{ model: 'svc', max_tokens: 1, messages: [user] },
      tools: list(most, longName(size, most)).map((name) => ({ type: 'function', function: { name } })),
    }),
    'tools with long schemas, all of them allowed': (size, most) => {
      const parameters = { a: filler(size, most) };
      const names = list(most, (at) => ({ type: 'function', function: { name: shortName(at) } }));
      return {
        ...{ model: 'svc', max_tokens: 1, messages: [user] },
        tools: names.map(({ type, function: { name } }) => ({ type, function: { name, parameters } })),
        tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: names } },
      };
    },
  },
  responses: {
    'a search finds one namespace of very many': (size) =>
      findAll([namespace('n', list(Math.floor(size / 40), shortName).map(own))]),
    'a search finds one namespace': (size, most) =>
      findAll([namespace('n', list(most - 1, longName(size, most)).map(own))]),
    'a search finds one namespace with a long name': (_size, most) =>
      findAll([namespace('n'.repeat(990), list(most - 1, shortName).map(own))]),
    'a search finds a namespace a tool': (size, most) =>
      findAll(list(most - 1, (at) => namespace(longName(size, most)(at), [own('f')]))),
    'very many empty namespaces': (size) => findAll(list(Math.floor(size / 50), () => namespace('n', []))),
    'a search a tool': (size, most) => ({
      ...{ model: 'svc', tools: [search] },
      input: [...list(most - 1, (at) => searched(`c${at}`, [own(longName(size, 2 * most)(at))])).flat(), user],
    }),
    'the same tool is found again and again': (size, most) =>
      findAll(list(most - 1, () => ({ ...own('f'), description: filler(size, most) }))),
    'the same tool of a namespace with a long name is found again and again': (_size, most) =>
      findAll([
        namespace(
          'n'.repeat(990),
          list(most - 1, () => own('f')),
        ),
      ]),
    'more tools, some of which take the names of others': (size, most) => ({
      model: 'svc',
      tools: list(most / 2, (at) => own(`n__${longName(size, most)(at)}`)),
      input: [
        { type: 'additional_tools', tools: [namespace('n', list(most / 2, longName(size, most)).map(own))] },
        user,
      ],
    }),
    'all of one namespace are allowed': (size, most) => {
      const names = list(most, longName(size / 2, most));
      return {
        ...{ model: 'svc', input: 'a', tools: [namespace('n', names.map(own))] },
        tool_choice: chosen(names.map((name) => ({ ...own(name), namespace: 'n' }))),
      };
    },
    'calls of tools that are not offered': (size) => ({
      model: 'svc',
      input: [
        ...list(Math.floor(size / 200), (at) => [
          { type: 'function_call', call_id: `c${at}`, namespace: 'n', name: shortName(at), arguments: '{}' },
          { type: 'function_call_output', call_id: `c${at}`, output: 'a' },
        ]).flat(),
        user,
      ],
    }),
  },
  messages: {
    'tools with long names': (size, most) => ({
      ...{ model: 'svc', max_tokens: 1, messages: [user] },
      tools: list(most, longName(size, most)).map((name) => ({ name, input_schema: {} })),
    }),
    'tools that one result refers to': (size, most) => {
      const names = list(most - 1, longName(size / 2, most));
      return {
        ...{ model: 'svc', max_tokens: 1, messages: [user, use, refer(names)] },
        tools: [{ name: 'f' }, ...names.map((name) => ({ name, defer_loading: true }))],
      };
    },
    'a result refers to very many tools that nobody has': (size) => ({
      ...{ model: 'svc', max_tokens: 1, tools: [{ name: 'f' }] },
      messages: [user, use, refer(list(Math.floor(size / 50), shortName))],
    }),
  },
};

/** Requests of a dialect that have as many tools as one may have, or more, each of them another: in texts of about so many characters. */
export const manyTools = (dialect: DialectName, most: number) =>
  Object.entries(shapes[dialect]).map(([name, write]) => ({
    name,
    text: (size: number): string => JSON.stringify(write(size, most)),
  }));
