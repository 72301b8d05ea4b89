import { expect, test } from '@jest/globals';
import { type ClientDialect, translateText } from './translate.ts';

/** What a request takes: how often it pauses, and the pieces of the body. */
function translate(dialect: ClientDialect, members: string) {
  const work = translateText(dialect, `{"model":"svc",${members}}`);
  for (let pauses = 0; ; pauses += 1) {
    const { done, value } = work.next();
    if (done) return { pauses, pieces: value.pieces };
  }
}

const repeat = (count: number, element: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => element(index)).join();

const count = 60_000;
const text = '{"type":"input_text","text":"hello"}';
const block = '{"type":"text","text":"hello"}';
const said = (role: string, content: string) => `{"role":"${role}","content":${content}}`;

test.each<[what: string, members: string, dialect?: ClientDialect]>([
  ['messages', `"input":[${repeat(count, () => '{"role":"user","content":"hello"}')}]`],
  ['parts of one message', `"input":[{"role":"user","content":[${repeat(count, () => text)}]}]`],
  [
    'texts of one answer',
    `"input":[{"role":"assistant","content":[${repeat(count, () => text.replace('in', 'out'))}]}]`,
  ],
  ['tools', `"tools":[${repeat(count, (index) => `{"type":"function","name":"f${index}"}`)}]`],
  [
    'parts of one output, read before tools that stand before it',
    `"tools":[],"input":[{"type":"function_call","call_id":"c","name":"f","arguments":""},{"type":"function_call_output","call_id":"c","output":[${repeat(count, () => text)}]}]`,
  ],
  [
    'thoughts of one item',
    `"input":[{"type":"reasoning","summary":[${repeat(4 * count, () => text.replace('input', 'summary'))}]}]`,
  ],
  [
    'allowed tools',
    `"tools":[{"type":"function","name":"f"}],"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[${repeat(count, () => '{"type":"function","name":"f"}')}]}`,
  ],
  [
    'seals of others',
    `"input":[${repeat(2_000, () => `{"type":"reasoning","summary":[],"encrypted_content":"svc1.${'A'.repeat(80)}"}`)}]`,
  ],
  ['messages of the other dialect', `"messages":[${repeat(count, () => said('user', '"hello"'))}]`, 'messages'],
  [
    'tools that wait for a search, of which nothing is written',
    `"messages":[],"tools":[{"name":"f"},${repeat(count, (index) => `{"name":"f${index}","defer_loading":true}`)}]`,
    'messages',
  ],
  ['blocks of the user', `"messages":[${said('user', `[${repeat(count, () => block)}]`)}]`, 'messages'],
  [
    'blocks of the assistant',
    `"messages":[${said('assistant', `[${repeat(count, () => block)}]`)},${said('user', '"hello"')}]`,
    'messages',
  ],
  ['blocks of the system', `"messages":[],"system":[${repeat(count, () => block)}]`, 'messages'],
  [
    'blocks of a result',
    `"messages":[${said('assistant', '[{"type":"tool_use","id":"t","name":"f"}]')},${said('user', `[{"type":"tool_result","tool_use_id":"t","content":[${repeat(count, () => block)}]}]`)}]`,
    'messages',
  ],
])(
  'a request with very many %s gives others their turn, in reading and in writing',
  (...[, members, dialect = 'responses']) => {
    const { pauses, pieces } = translate(dialect, members);
    expect(pauses).toBeGreaterThan(20);
    // Each piece is written to the connection by itself.
    expect(pieces.length).toBeLessThan(100);
  },
);

test.each<[ClientDialect, what: string, members: string]>([
  [
    'responses',
    'long seals',
    `"input":[${repeat(60, () => `{"type":"reasoning","summary":[],"encrypted_content":"svc1.${'A'.repeat(250_000)}"}`)}]`,
  ],
  [
    'messages',
    'a long input of a call',
    `"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"a":"${'\\n'.repeat(4_000_000)}"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}]`,
  ],
])('a %s request with %s gives others their turn', (dialect, _what, members) => {
  expect(translate(dialect, members).pauses).toBeGreaterThan(20);
});

test('a long input of a custom tool is quoted as a short one would be, wherever it is cut', () => {
  for (let before = 0; before < 4; before += 1) {
    const input = JSON.stringify(`${'x'.repeat(before)}${'😀"\\é\n'.repeat(100_000)}`);
    const call = `{"type":"custom_tool_call","call_id":"c","name":"f","input":${input}}`;
    const { pieces } = translate(
      'responses',
      `"input":[${call},{"type":"custom_tool_call_output","call_id":"c","output":""}]`,
    );
    expect(pieces.join('').includes(JSON.stringify(`{"input":${input}}`))).toBe(true);
  }
});

test('a long text is not copied: it is a piece of its own, between those around it', () => {
  const long = 'x'.repeat(1_000_000);
  const { pieces } = translate(
    'responses',
    `"input":[{"role":"user","content":"a"},{"role":"user","content":"${long}"}]`,
  );
  expect(pieces).toEqual([
    '{"model":"up-model","messages":[{"role":"user","content":"a"},{"role":"user","content":',
    `"${long}"`,
    '}]}',
  ]);
});
