import { setFlagsFromString } from 'node:v8';
import { expect, test } from '@jest/globals';
import { type ClientDialect, translateText } from './translate.ts';

/** The pieces of a body. */
const piecesOf = (dialect: ClientDialect, members: string) =>
  translateText(dialect, `{"model":"svc",${members}}`).pieces;

/** A long list, each element with its number at the `#`. */
const many = (element: string, count = 5_000) =>
  `[${Array.from({ length: count }, (_, index) => element.replace('#', String(index))).join()}]`;
const text = '{"type":"input_text","text":"hello"}';
const block = '{"type":"text","text":"hello"}';
const said = (role: string, content: string) => `{"role":"${role}","content":${content}}`;
const sealed = (length: number) => `{"type":"reasoning","summary":[],"encrypted_content":"svc1.${'A'.repeat(length)}"}`;
const use = (input: string) => said('assistant', `[{"type":"tool_use","id":"t","name":"f","input":${input}}]`);
const result = (content: string) => said('user', `[{"type":"tool_result","tool_use_id":"t","content":${content}}]`);
const call = '{"type":"function_call","call_id":"c","name":"f","arguments":""}';

test.each<[what: string, dialect: ClientDialect, members: string]>([
  ['messages', 'responses', `"input":${many(said('user', '"hello"'))}`],
  ['parts of one message', 'responses', `"input":[${said('user', many(text))}]`],
  ['texts of one answer', 'responses', `"input":[${said('assistant', many(text))}]`],
  ['tools', 'responses', `"tools":${many('{"type":"function","name":"f#"}')}`],
  ['values of include', 'responses', `"input":"hello","include":${many('"a"', 20_000)}`],
  [
    'parts of one output, read before tools that stand before it',
    'responses',
    `"tools":[],"input":[${call},{"type":"function_call_output","call_id":"c","output":${many(text)}}]`,
  ],
  [
    'reasoning texts of one item',
    'responses',
    `"input":[{"type":"reasoning","summary":${many(text.replace('input', 'summary'), 20_000)}}]`,
  ],
  [
    'allowed tools',
    'responses',
    `"tools":[{"type":"function","name":"f"}],"tool_choice":{"type":"allowed_tools","mode":"auto","tools":${many('{"type":"function","name":"f"}')}}`,
  ],
  ['foreign seals', 'responses', `"input":${many(sealed(80), 300)}`],
  ['long seals', 'responses', `"input":${many(sealed(100_000), 20)}`],
  ['messages', 'messages', `"messages":${many(said('user', '"hello"'))}`],
  [
    'deferred tools, which are not written',
    'messages',
    `"messages":[],"tools":[{"name":"f"},${many('{"name":"f#","defer_loading":true,"input_schema":{"type":"object"}}').slice(1)}`,
  ],
  ['blocks of the user', 'messages', `"messages":[${said('user', many(block))}]`],
  ['blocks of the assistant', 'messages', `"messages":[${said('assistant', many(block))},${said('user', '""')}]`],
  ['blocks of the system', 'messages', `"messages":[],"system":${many(block)}`],
  ['blocks of a result', 'messages', `"messages":[${use('{}')},${result(many(block))}]`],
  ['escapes in the input of a call', 'messages', `"messages":[${use(`"${'a\\n'.repeat(200_000)}"`)},${result('""')}]`],
])('a request with very many %s is written in few pieces, as each costs a write: %s', (_what, dialect, members) => {
  expect(piecesOf(dialect, members).length).toBeLessThan(100);
});

test('a long input of a custom tool is quoted like a short one, wherever it is split', () => {
  for (let before = 0; before < 4; before += 1) {
    const input = JSON.stringify(`${'x'.repeat(before)}${'😀"\\é\n'.repeat(20_000)}`);
    const call = `{"type":"custom_tool_call","call_id":"c","name":"f","input":${input}}`;
    const pieces = piecesOf(
      'responses',
      `"input":[${call},{"type":"custom_tool_call_output","call_id":"c","output":""}]`,
    );
    expect(pieces.join('').includes(JSON.stringify(`{"input":${input}}`))).toBe(true);
  }
});

test('a long text is not copied, but is a piece of its own', () => {
  const long = 'x'.repeat(1_000_000);
  const pieces = piecesOf('responses', `"input":[{"role":"user","content":"a"},{"role":"user","content":"${long}"}]`);
  expect(pieces).toEqual([
    '{"model":"up-model","messages":[{"role":"user","content":"a"},{"role":"user","content":',
    `"${long}"`,
    '}]}',
  ]);
});

test('many small values are joined while they are written, not only when the body is first read', () => {
  setFlagsFromString('--allow-natives-syntax');
  const isFlat: (text: string) => boolean = Object(new Function('text', 'return %StringIsFlat(text)'));
  setFlagsFromString('--no-allow-natives-syntax');
  const pieces = piecesOf('responses', `"input":${many(said('user', '"hello"'), 20_000)}`);
  expect(pieces.length).toBeGreaterThan(10);
  expect(pieces.filter((piece) => !isFlat(piece))).toEqual([]);
});
