import { expect, test } from '@jest/globals';
import { readEvents } from '../../../../support/client-view.ts';
import fc, { upTo } from '../../../../support/properties.ts';
import { call, end } from './cases/case.ts';
import { bytesOf, plainOf, translateAnswer, translateStream } from './translated.ts';
import { assertStream } from './validate.ts';

const tools = {
  apply_patch: { kind: 'custom', name: 'apply_patch' },
  shell__exec: { kind: 'custom', name: 'exec', namespace: 'shell' },
  files__read: { kind: 'function', name: 'read', namespace: 'files' },
  find_tools: { kind: 'tool_search', name: 'find_tools' },
} as const;

/** One call whose arguments arrive in these pieces, as a stream of responses and as a plain answer. */
function answer(name: string, pieces: readonly string[], reason = 'tool_calls') {
  const chunks = [
    call({ index: 0, id: 'call_a', name }),
    ...pieces.map((args) => call({ index: 0, args })),
    end(reason),
  ];
  const events = readEvents(translateStream('responses', bytesOf({ chunks }), { tools }).output);
  assertStream('responses', events);
  const values = events.map(({ value }) => Object(value));
  const finish = reason === 'length' ? 'length' : 'done';
  const says = [{ call: name, args: pieces.join(''), id: 'call_a' }];
  const plain = Object(translateAnswer('responses', plainOf({ name, chunks, says, finish }) ?? {}, { tools }));
  return {
    item: values.at(-1).response.output[0],
    plain: plain.output[0],
    deltas: values.flatMap(({ type, delta }) => (type === 'response.custom_tool_call_input.delta' ? [delta] : [])),
    types: values.map(({ type }) => type),
  };
}

const given = { type: 'custom_tool_call', call_id: 'call_a', name: 'apply_patch', status: 'completed' };

test('the input of a custom tool is streamed as soon as it is certain', () => {
  const pieces = ['{"in', 'put": "*** Begin', ' Patch\\n+a \\', 'u00e9 \\"b\\"', '"}'];
  const { item, plain, deltas } = answer('apply_patch', pieces);
  expect(deltas).toEqual(['*** Begin', ' Patch\n+a ', 'é "b"']);
  expect(item).toMatchObject({ ...given, input: '*** Begin Patch\n+a é "b"' });
  expect(plain).toMatchObject({ ...given, input: '*** Begin Patch\n+a é "b"' });
});

test.each([
  ['another member', '{"patch":"*** Begin"}'],
  ['a raw text', '*** Begin Patch\n*** End Patch'],
  ['broken JSON', '{"inputs": "x'],
  ['members before the input', '{"path":"a","input":"b"}'],
])('arguments that are %s are the input', (_what, args) => {
  const { item, plain, deltas } = answer('apply_patch', [args.slice(0, 4), args.slice(4)]);
  expect([deltas, item.input, plain.input]).toEqual([[args], args, args]);
});

test('an input that was shown stays, even if the complete arguments turn out to be something else', () => {
  const args = '{"input":"a","more":1}';
  const { item, plain } = answer('apply_patch', [args]);
  expect([item.input, plain.input]).toEqual(['a', args]);
});

test('an escape that is not valid in JSON stays as it is', () => {
  expect(answer('apply_patch', ['{"input":"a\\', 'qb\\u12zz"}']).item.input).toBe('a\\qb\\u12zz');
});

test('any input arrives unchanged, wherever its arguments are split', () => {
  const inputs = fc.oneof(
    fc.string({ unit: upTo(0x10ffff) }),
    fc.string({ unit: fc.constantFrom(...'\\"u0nq{}é😀\n') }),
  );
  const places = fc.array(fc.nat(60), { maxLength: 6 });
  fc.assert(
    fc.property(inputs, places, fc.boolean(), (input, cuts, spaced) => {
      const args = JSON.stringify({ input }, null, spaced ? 2 : 0);
      const edges = [0, ...cuts.sort((a, b) => a - b), args.length];
      const pieces = edges.slice(1).map((to, at) => args.slice(edges[at], to));
      const { item, plain, deltas } = answer('apply_patch', pieces);
      expect([item.input, plain.input, deltas.join('')]).toEqual([input, input, input]);
    }),
    { numRuns: 50 },
  );
});

test('a tool of a namespace comes back under its own name and the name of the namespace', () => {
  expect(answer('files__read', ['{"path":"a"}']).item).toMatchObject({
    ...{ type: 'function_call', name: 'read', namespace: 'files', arguments: '{"path":"a"}' },
  });
  expect(answer('shell__exec', ['{"input":"ls"}']).plain).toMatchObject({
    ...{ type: 'custom_tool_call', name: 'exec', namespace: 'shell', input: 'ls' },
  });
});

test('a tool search has its arguments as an object, and no deltas', () => {
  const { item, plain, types } = answer('find_tools', ['{"query":\n', '"files"}']);
  const search = { type: 'tool_search_call', call_id: 'call_a', execution: 'client', status: 'completed' };
  expect(item).toMatchObject({ ...search, arguments: { query: 'files' } });
  expect(plain).toMatchObject({ ...search, arguments: { query: 'files' } });
  expect(types.filter((type) => type.includes('arguments'))).toEqual([]);
  expect(answer('find_tools', ['{"query":']).item.arguments).toBe('{"query":');
});

test.each([
  ['files__read', '{"path":"a', { arguments: '{"path":"a' }],
  ['apply_patch', '{"input":"*** Beg', { input: '*** Beg' }],
])('a call of %s that the limit cut off is never reported as done', (name, args, told) => {
  const { item, plain, types } = answer(name, [args], 'length');
  expect(item).toMatchObject({ ...told, status: 'incomplete' });
  expect(plain).toMatchObject({ ...told, status: 'incomplete' });
  expect(types).not.toContain('response.output_item.done');
});

test.each([
  ['as escapes', ['{"input":"a\\ud83d', '\\ude00b"}']],
  ['as they are', ['{"input":"a\ud83d', '\ude00b"}']],
])('a surrogate pair that is split is shown whole: %s', (_how, pieces) => {
  const { item, deltas } = answer('apply_patch', pieces);
  expect([deltas, item.input]).toEqual([['a', '\u{1f600}b'], 'a\u{1f600}b']);
});
