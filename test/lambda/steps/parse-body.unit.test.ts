import { describe, expect, jest, test } from '@jest/globals';
import { GatewayError } from '../../../lambda/errors.ts';
import { createScanner } from '../../../lambda/json/scan.ts';
import { readPrices } from '../../../lambda/settings/read-prices.ts';
import fc, { many } from '../../support/properties.ts';
import { models, readBody, renderRead } from '../../support/read-body.ts';
import { dialectNamed, dialects } from '../../support/rewrite.ts';
import { testRows } from '../../support/test-rows.ts';
import { printedJson } from '../json/arbitrary-json.ts';

const upstreamModel = 'acmecorp/"thunder" \ud83c\udf29';
const sentModel = JSON.stringify(upstreamModel);

const read = readBody;
const send = (dialectName: string, body: string | Buffer) => renderRead(read(dialectName, body), upstreamModel);

/** The raw values of a top-level key: for parsers that take the first duplicate, and for those that take the last. */
function viewsOf(body: string, name: string): { first: string | undefined; last: string | undefined; times: number } {
  const json = createScanner().scan(body);
  const values = [...json.keys(json.root)].filter((key) => json.string(key) === name).map((key) => json.raw(key + 1));
  return { first: values[0], last: values.at(-1), times: values.length };
}

const space = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 2 });

/** Some spellings of one key. */
const spell = (name: string) =>
  fc.array(fc.boolean(), { minLength: name.length, maxLength: name.length }).map((escapes) => {
    const spelt = (letter: string, index: number) =>
      escapes[index] ? `\\u00${letter.charCodeAt(0).toString(16)}` : letter;
    return `"${[...name].map(spelt).join('')}"`;
  });
const member = (key: fc.Arbitrary<string>, value: fc.Arbitrary<string>) =>
  fc.tuple(space, key, space, value, space).map(([a, name, b, content, c]) => `${a}${name}${b}:${content}${c}`);

const required = (name: string) => (name === 'responses' ? 'input' : 'messages');
/** Unknown members with any content, possibly duplicates. */
const strange = member(
  fc.constantFrom('"zzz"', '"Models"', '"Temperature"', '"mod\\u0065ls"', '""', '"__proto__"', '"seed"'),
  printedJson.map((printed) => printed.text),
);
const bodyOf = (members: readonly string[]) => `{${members.join(',')}}`;

describe.each(dialects.map(({ name }) => name))('a body of %s', (dialectName) => {
  test('is sent as it came, except for its model', () => {
    const model = fc.tuple(space, spell('model'), space).map(([before, key, after]) => `${before}${key}:${after}"svc"`);
    const list = member(spell(required(dialectName)), fc.constant('[]'));
    const members = fc
      .tuple(model, list, fc.array(strange, { maxLength: 5 }), fc.infiniteStream(fc.nat()))
      .map(([first, second, others, places]) => {
        const all = [...others];
        for (const one of [first, second]) all.splice((places.next().value ?? 0) % (all.length + 1), 0, one);
        return { all, first };
      });
    fc.assert(
      fc.property(members, space, ({ all, first }, end) => {
        const sent = all.map((one) => (one === first ? one.replace(/"svc"$/, () => sentModel) : one));
        expect(send(dialectName, bodyOf(all) + end)).toBe(bodyOf(sent) + end);
      }),
      { numRuns: many(60) },
    );
  });

  test('shows every parser the values that were checked', () => {
    const names = [...dialectNamed(dialectName).controlMembers];
    const values: Record<string, fc.Arbitrary<string>> = {
      model: fc.constantFrom('"svc"', '"svc-vision"', '"haiku"', '"unknown"', '1'),
      stream: fc.constantFrom('true', 'false', 'null'),
      messages: fc.constantFrom('[]', '[{}]', '[1.0]'),
      input: fc.constantFrom('[]', '"hi"', 'null'),
      thinking: fc.constantFrom('true', 'false', '{"type":"enabled"}'),
      output_config: fc.constantFrom('{"effort":"none"}', '{"effort":"low"}', '{}', '{"effort":"low","effort":"none"}'),
    };
    const control = fc.constantFrom(...names).chain((name) => member(spell(name), values[name] ?? fc.constant('null')));
    const bodies = fc
      .array(fc.oneof({ weight: 3, arbitrary: control }, strange), { maxLength: 8 })
      .map((drawn) => [...drawn, '"model":"svc"', `"${required(dialectName)}":[]`])
      .chain((all) => fc.shuffledSubarray(all, { minLength: all.length }))
      .map(bodyOf);
    fc.assert(
      fc.property(bodies, (body) => {
        let call: ReturnType<typeof read>;
        try {
          call = read(dialectName, body);
        } catch (error) {
          // Only the last duplicate counts: if it is invalid, the request is refused.
          expect(error).toBeInstanceOf(GatewayError);
          expect(viewsOf(body, 'model').last).toMatch(/^("unknown"|1)$/);
          return;
        }
        const sent = renderRead(call, upstreamModel);
        expect(() => JSON.parse(sent)).not.toThrow();
        expect(viewsOf(sent, 'model')).toEqual({ first: sentModel, last: sentModel, times: 1 });
        expect(viewsOf(sent, 'stream').times).toBeLessThanOrEqual(1);
        expect(call.stream).toBe(viewsOf(sent, 'stream').first === 'true');
        const seen = models.resolve(JSON.parse(viewsOf(body, 'model').last ?? '""'));
        expect(call.model).toBe(seen);
        for (const name of names) {
          const [before, after] = [viewsOf(body, name), viewsOf(sent, name)];
          expect(after.times).toBe(Math.min(1, before.times) || after.times);
          if (!/^(model|thinking|output_config)$/.test(name)) expect(after.first).toBe(before.last);
        }
        const strangers = (whole: string) => {
          const json = createScanner().scan(whole);
          return [...json.keys(json.root)]
            .filter((key) => !names.includes(json.string(key)))
            .map((key) => json.raw(key + 1));
        };
        expect(strangers(sent)).toEqual(strangers(body));
      }),
      { numRuns: many(60) },
    );
  });

  const kelvinSign = '\u212a';
  testRows([
    ['Model', 'model'],
    [`thin${kelvinSign}ing`, 'thinking'],
    ['me\u017fsages', 'messages'],
  ])('is refused if a name differs only in case', (name, meant) => {
    const refusal = expect.objectContaining({
      ...{ code: 'invalid_request', status: 400 },
      message: `${name} is not a field: case matters. Write ${meant}.`,
    });
    const escaped = [...name].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
    for (const spelling of [name, escaped]) {
      for (const model of ['"model":"svc"', '"model":"unknown"', '"seed":1']) {
        const given = [model, `"${required(dialectName)}":[]`, `"${spelling}":null`];
        expect(() => read(dialectName, bodyOf(given))).toThrow(refusal);
        expect(() => read(dialectName, bodyOf(given.toReversed()))).toThrow(refusal);
      }
    }
  });
});

testRows([
  ['', /^The body is empty/],
  ['{"model":"svc",\n "x": 01}', /not valid JSON: line 2, column 7/],
  ['[]', /must be a JSON object/],
  ['\ufeff{}', /^The body begins with a byte order mark\. Send it without\.$/],
  [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), /not valid UTF-8/],
  [
    `{"model":"svc","x":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
    /^The body exceeds a limit of the gateway: line 1, column 10019: nested deeper than 10000 levels\. Send fewer\.$/,
  ],
  ['{}', /^model is missing\. Use svc or svc-vision/],
  ['{"model":null}', /^model must be a string/],
  ['{"model":"svc","messages":[],"stream":"true"}', /^stream must be true or false/],
])('a bad body is refused', (body, message) => {
  expect(() => read('chat', body)).toThrow(
    expect.objectContaining({ code: 'invalid_request', status: 400, message: expect.stringMatching(message) }),
  );
});
testRows([
  ['gpt-5', "model is unknown: 'gpt-5'. Use svc or svc-vision."],
  [' svc\n', "model is unknown: ' svc'. Use svc or svc-vision."],
  ['a'.repeat(5_000), `model is unknown: '${'a'.repeat(99)}…'. Use svc or svc-vision.`],
  ['ltk_secret', 'model is unknown. Use svc or svc-vision.'],
])('an unknown model is another error, which names it unless it may be a key', (model, message) => {
  expect(() => read('chat', JSON.stringify({ model, messages: [] }))).toThrow(
    expect.objectContaining({ code: 'invalid_model', status: 400, message }),
  );
});

testRows([2, 59, 60, 61, 9_000])('the path of an image takes at most 200 characters', (depth) => {
  const content = `${'['.repeat(depth)}{"type":"image"}${']'.repeat(depth)}`;
  let message = '';
  try {
    read('chat', `{"model":"svc","messages":[{"content":${content}}]}`);
  } catch (error) {
    message = String(error);
  }
  const [, path = ''] = /^GatewayError: (.*) holds an image/.exec(message) ?? [];
  expect(path.length).toBeLessThanOrEqual(200);
  expect(path).toMatch(depth === 2 ? /^messages\[0\]\.content\[0\]\[0\]$/ : /^messages\[0\]\.content\[0\]/);
});

testRows([
  ['chat', '{"model":"svc"}', /^messages is missing: send it as an array\.$/],
  ['chat', '{"model":"svc","input":"hi"}', /^messages is missing: .*, or a body with input to \/v1\/responses\.$/],
  ['messages', '{"model":"svc","input":[]}', /^messages is missing: .*, or a body with input to \/v1\/responses\.$/],
  ['chat', '{"model":"svc","messages":{}}', /^messages must be an array, not an object/],
  ['chat', '{"model":"svc","messages":[],"messages":null}', /^messages must be an array, not null/],
  ['responses', '{"model":"svc","input":{}}', /^input must be a string or an array, not an object/],
  ['responses', '{"model":"svc","input":"x","previous_response_id":""}', /^previous_response_id is not supported/],
])('a missing or invalid field that the dialect requires is named', (dialectName, body, message) => {
  expect(() => read(dialectName, body)).toThrow(
    expect.objectContaining({ code: 'invalid_request', message: expect.stringMatching(message) }),
  );
});

testRows([
  [{ input: [{ type: 'item_reference', id: 'rs_1' }] }, true],
  [{ input: [{ content: [{ type: 'input_file', file_id: 'file_1' }] }] }, true],
  [{ input: 'x', prompt: { id: 'pmpt_1' } }, true],
  [{ input: 'x', tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }, true],
  [{ input: 'x', tools: [{ type: 'code_interpreter', container: 'cntr_1' }] }, true],
  [{ input: 'x', tools: [{ type: 'mcp', server_url: 'x', id: 'a' }], metadata: { file_id: 'a' } }, false],
  [{ input: [{ type: 'function_call', call_id: 'c', arguments: '{"id":1}' }] }, false],
])('tells whether a body refers to items stored upstream', (body, expected) => {
  expect(read('responses', JSON.stringify({ model: 'svc', ...body }))).toMatchObject({ hasReferences: expected });
});

test('the request in a body', () => {
  const prompt = '{"model":"svc-image","prompt":{"id":"pmpt_1"},"stream":true}';
  expect(read('responses', prompt)).toMatchObject({ stream: true, hasReferences: true, model: { id: 'svc-vision' } });
  const plain =
    '{"model":"fam-x","input":[{"type":"function_call_output","call_id":"c","output":"x"}],"background":false}';
  expect(read('responses', plain)).toMatchObject({ stream: false, hasReferences: false, model: { id: 'svc' } });
  const asks = (dialectName: string, members: string) => {
    const { choices, stops } = read(dialectName, `{"model":"svc","messages":[],${members}}`).expected;
    return [choices, ...stops];
  };
  expect(asks('chat', '"n":1,"n":3')).toEqual([3]);
  expect(asks('chat', '"n":null,"stop":"\\u0041cme"')).toEqual([1, 'Acme']);
  expect(asks('chat', '"stop":["a",1,"b"],"stop_sequences":["c"]')).toEqual([1, 'a', 'b']);
  expect(asks('messages', '"stop_sequences":["a","b"],"stop":"c","n":2')).toEqual([1, 'a', 'b']);
  expect(asks('messages', '"stop_sequences":["a"],"stop_sequences":["b"]')).toEqual([1, 'b']);
  expect(read('responses', '{"model":"svc","input":"x","stop":"a"}').expected).toEqual({
    choices: 1,
    stops: new Set(),
  });
  const many = JSON.stringify(Array.from({ length: 1_000 }, (_, index) => `${index}`.padStart(3)));
  expect(asks('messages', `"stop_sequences":${many}`).length).toBeLessThan(100);
  expect(asks('messages', `"stop_sequences":["${'x'.repeat(10_000)}","y"]`)).toEqual([1, 'y']);
  const body = '{"model":"svc","messages":[],"stream":true}';
  expect(read('messages', body, { endpoint: 1 }).stream).toBe(false);
});

test('a body with too many members is refused, however they are spelt', () => {
  const body = (member: string, times: number) => `{"model":"svc",${`${member},`.repeat(times)}"messages":[]}`;
  for (const member of ['"a":1', '"\\u0061":1', '"model":"svc"']) {
    expect(send('chat', body(member, 998))).toContain(sentModel);
    const refusal = 'The body has more than 1000 fields at its top level. Send fewer.';
    expect(() => send('chat', body(member, 999))).toThrow(refusal);
  }
});

test.each(['a', '\\"', '\\u0061'])('so is one with too long a field name (%s)', (letter) => {
  const body = (length: number) => `{"model":"svc","${letter.repeat(length / letter.length)}":1,"messages":[]}`;
  expect(send('chat', body(996))).toContain(sentModel);
  const refusal = 'The body has a field whose name is longer than 1000 characters. Leave it out.';
  expect(() => send('chat', body(1_002))).toThrow(refusal);
});

test('so is one with an object of too many members, wherever it is', () => {
  const crowd = (times: number) => `{${'"a":[1],'.repeat(times - 1)}"a":{}}`;
  const bodies: readonly ((inner: string) => string)[] = [
    (inner) => `{"model":"svc","messages":[],"metadata":${inner}}`,
    (inner) => `{"model":"svc","messages":[${crowd(10)},[{"a":[0,${inner}],"b":0}]],"z":0}`,
    (inner) => `{"model":"svc","messages":[${'['.repeat(1_000)}${inner},1${']'.repeat(1_000)}]}`,
    (inner) => `{"model":"svc","messages":[${Array(20_000).fill('{"a":0         }').join()},${inner}]}`,
  ];
  for (const body of bodies) {
    expect(send('chat', body(crowd(20_000)))).toContain(sentModel);
    const refusal = 'The body has an object with more than 20000 members. Send fewer.';
    expect(() => send('chat', body(crowd(20_001)))).toThrow(refusal);
  }
});

testRows([
  ['messages', 'output_config', '"effort":"low"'],
  ['chat', 'stream_options', '"include_usage":false'],
])('so is one that repeats a member that the gateway edits too often', (dialect, name, member) => {
  const body = `{"model":"svc","messages":[],"stream":true,"${name}":{${`${member},"a":1,`.repeat(1_002)}"b":1}}`;
  const reading = { isRestricted: true, reservedOutput: 1 };
  expect(() => read(dialect, body, { reading })).toThrow(`${name} repeats a member more than 1000 times`);
});

test('the content of a body is walked once, for images and for the estimate of its files', () => {
  const prices = readPrices('{"svc":{"input":1,"output":1},"svc-vision":{"input":1,"output":1}}', models.all, []);
  const searchContent = jest.fn(dialectNamed('chat').searchContent);
  const reader = { dialects: [{ ...dialectNamed('chat'), searchContent }], prices };
  const file = { type: 'file', file: { file_data: 'A'.repeat(90_000) } };
  const body = JSON.stringify({ model: 'svc', messages: [{ role: 'user', content: [file] }] });
  const { reservation } = read('chat', body, { reader, reading: { isRestricted: true, reservedOutput: 1 } });
  expect(reservation?.inputTokens).toBe(9_000 + Math.ceil((body.length - 90_000) / 3));
  expect(searchContent).toHaveBeenCalledTimes(1);
});
