import { describe, expect, test } from '@jest/globals';
import { createScanner, type Json, type Node } from '../../../lambda/json/scan.ts';
import { maxDepth } from '../../../lambda/json/tape.ts';
import { JsonFault, JsonLimit } from '../../../lambda/json/tokens.ts';
import fc, { many } from '../../support/properties.ts';
import { testRows } from '../../support/test-rows.ts';
import { brokenJson, printedJson } from './arbitrary-json.ts';

const scan = (text: string) => createScanner().scan(text);

/** The value of a node, assembled from the scanner's answers. */
function evaluate(json: Json, node: Node): unknown {
  switch (json.kind(node)) {
    case 'object':
      return Object.fromEntries([...json.keys(node)].map((key) => [json.string(key), evaluate(json, key + 1)]));
    case 'array':
      return [...json.elements(node)].map((element) => evaluate(json, element));
    case 'string':
      return json.string(node);
    default:
      return JSON.parse(json.raw(node));
  }
}

function faultOf(text: string): JsonFault {
  try {
    scan(text);
  } catch (fault) {
    if (fault instanceof JsonFault) return fault;
  }
  throw new Error('expected a JsonFault');
}

function accepts(read: (text: string) => unknown, text: string): boolean {
  try {
    read(text);
    return true;
  } catch (fault) {
    if (read === scan && !(fault instanceof JsonFault)) throw fault;
    return false;
  }
}

describe('nodes', () => {
  test('are every value and key in its place, and add up to what JSON.parse returns', () => {
    const scanner = createScanner();
    fc.assert(
      fc.property(printedJson, ({ text, nodes: texts }) => {
        const json = scanner.scan(text);
        const nodes = Array.from({ length: json.size }, (_, node) => node);
        expect(nodes.map((node) => json.raw(node))).toEqual(texts);
        expect([json.next(json.root), json.text]).toEqual([json.size, text]);
        expect(JSON.stringify(evaluate(json, json.root))).toBe(JSON.stringify(JSON.parse(text)));
        const keys = nodes.flatMap((node) => [...json.keys(node)]);
        expect(nodes.filter((node) => json.isKey(node))).toEqual(keys.sort((a, b) => a - b));
        // A member is found by its decoded key, the last of that name.
        const wrong = nodes.filter((node) => {
          const values = new Map([...json.keys(node)].map((key) => [json.string(key), key + 1]));
          const names = ['model', 'ab', '', ...values.keys()];
          return names.some((name) => json.member(node, name) !== values.get(name));
        });
        expect(wrong).toEqual([]);
      }),
      { numRuns: many(200) },
    );
  });

  test('a key of one escaped character is decoded correctly', () => {
    // V8's own parser, once it has met a backslash as a key, may take the next key of one escaped character for one.
    JSON.parse('{"h":0,"\\\\":1}');
    const json = scan('{"h":0,"\\"":1,"\\u0061":2,"\\ba":3}');
    expect([...json.keys(0)].map((key) => json.string(key))).toEqual(['h', '"', 'a', '\ba']);
    expect(json.member(0, 'a')).toBe(6);
  });

  test('the next scan replaces the last, even after a fault or a huge text', () => {
    const scanner = createScanner();
    scanner.scan(`[${'0,'.repeat(200_000)}0]`);
    expect(() => scanner.scan('[1, 2')).toThrow(JsonFault);
    const json = scanner.scan('{"a": true}');
    expect(json.size).toBe(3);
    expect(evaluate(json, json.root)).toEqual({ a: true });
  });
});

describe('valid JSON', () => {
  // Written with nothing but single spaces between them.
  const compact = [
    '[1,] {"a":1,} [,] [,1] {,} [1,,2] {"a":} {"a"} {a:1} {1:1} {"a"::1} {"a":1:2} [1:2] {"a",1} {"a":1,"b"} {null:1}',
    `{'a':1} 'a' \`a\` 00 01 -01 - --1 +1 1. 0. .5 -.5 1.e1 1e 1e+ 1E- 1e1.5 1.2.3 0x10 1_000 1a -0 0 0e0 -0.0e-0 1E+2`,
    'Infinity -Infinity NaN -NaN undefined tru true truee True TRUE nul null nulll nil false fals falsey truefalse t f n',
    '[truefalse] [ ] { } [} {] [[] [[]] [] {} {}} {}{} [][] {}x [{]} [1} {"a":1] {"a":1}] //x 1//x /**/1 [1/**/] # \\ , :',
    '" "a "\\" "\\ "\\x41" "\\a" "\\0" "\\u" "\\u12" "\\u12g4" "\\u+123" "\\u12 "\\U0041" "\\ud800" "" """" {"__proto__":1}',
  ].flatMap((line) => line.split(' '));
  const nasties = [
    ...['', ...' \n\0', '\ufeff1', '\ufeff{}', '1\ufeff', '\u00a01', '\u20281', '\v1', '\f1', '\u3000', '[1\u00a0]'],
    ...['[1 2]', '{"a" 1}', '{"a":1 "b":2}', '- 1', '1 1', 'true false', '"a" "b"', '"\\u 123"', '{} x', '//x\n1'],
    ...[' {} ', '\t[\r\n]\n', '{ }', '{}\n\n', '{}\0', '[]\0', '9'.repeat(400), '-'.repeat(400)],
    ...['"\t"', '"\n"', '"\r"', '"\0"', '"\u001f"', '"\u007f"', '"\u0080"', '"\u2028"', '"\ud800"', '"\\\n"'],
    // Around the length at which the regular expression takes over.
    ...['"', '\\"', '\\n', '\\n"', '\n"', '\u001f"', '\\', ''].flatMap((end) =>
      [47, 48, 49, 50, 96, 97].flatMap((length) => [`"${'x'.repeat(length)}${end}`, `"${'漢'.repeat(length)}${end}`]),
    ),
    // Around the number of escapes that one match covers.
    ...['"', '\\"', '\\n"', '\\x"', '\\u12"', '\n"', '\\', ''].flatMap((end) =>
      [499, 500, 501, 1000].map((times) => `"${'\\n'.repeat(times)}${end}`),
    ),
  ];

  test('tricky handwritten texts are accepted or rejected as by JSON.parse', () => {
    const texts = [...compact, ...nasties];
    expect(texts.filter((text) => accepts(scan, text))).toEqual(texts.filter((text) => accepts(JSON.parse, text)));
  });

  test('broken texts are accepted or rejected as by JSON.parse', () => {
    fc.assert(
      fc.property(brokenJson, (text) => accepts(scan, text) === accepts(JSON.parse, text)),
      { numRuns: many(1000) },
    );
  });
});

describe('faults', () => {
  testRows([
    ['{"a": 1,\n  "b": 2\n "c": 3}', 'line 3, column 2: expected a comma or the end of the object'],
    ['[1 2]', 'line 1, column 4: expected a comma or the end of the array'],
    ['\n\n{"a" 1}', 'line 3, column 6: expected a colon'],
    ['{"a":1,}', 'line 1, column 8: expected a key in double quotes'],
    ['[1,]', 'line 1, column 4: expected a value'],
    ['', 'line 1, column 1: expected a value, but the text ends here'],
    ['{"a":', 'line 1, column 6: expected a value, but the text ends here'],
    ['"secret', 'line 1, column 8: expected the closing quote of a string, but the text ends here'],
    ['"a\nb"', 'line 1, column 3: a control character in a string must be escaped'],
    ['"\\x"', 'line 1, column 3: a backslash must be followed by one of " \\ / b f n r t u'],
    ['"\\u12"', 'line 1, column 6: expected four hexadecimal digits'],
    ['[-01]', 'line 1, column 3: a number must not start with a needless zero'],
    ['1.', 'line 1, column 3: expected a digit, but the text ends here'],
    ['{} secret', 'line 1, column 4: expected nothing more after the value'],
  ])('are told with their place, and nothing of the text', (text, message) => {
    const fault = faultOf(text);
    expect(fault).toMatchObject({ name: 'JsonFault', message });
    expect(fault).not.toBeInstanceOf(JsonLimit);
  });
});

describe('hostile shapes', () => {
  const nest = (open: string, inner: string, close: string, depth: number) =>
    open.repeat(depth) + inner + close.repeat(depth);

  testRows([
    ['arrays', '[', '', ']'],
    ['objects', '{"a":', '1', '}'],
  ])('nested as deep as is allowed, and one deeper', (_, open, inner, close) => {
    expect(scan(nest(open, inner, close, maxDepth)).size).toBeGreaterThanOrEqual(maxDepth);
    const fault = faultOf(nest(open, inner, close, maxDepth + 1));
    expect(fault).toBeInstanceOf(JsonLimit);
    expect(fault.message).toMatch(/: nested deeper than 10000 levels$/);
  });

  const size = 1_560_000;
  const filled = (part: string) => part.repeat(size / part.length);

  testRows([
    ['numbers', '1,', /: too many values for a text of this length$/],
    ['empty strings', '"",', /: too many values for a text of this length$/],
    ['empty members', '{"":1,"":1},', /: too many values for a text of this length$/],
    ['empty containers', '[],{},', /: too many objects and arrays for a text of this length$/],
    ['nested containers', `${'['.repeat(5000)}${']'.repeat(5000)},`, /: too many objects and arrays for a text/],
  ])('that stand too close', (_, part, message) => {
    const fault = faultOf(`[${part.repeat(4_000_000 / part.length)}0]`);
    expect(fault).toBeInstanceOf(JsonLimit);
    expect(fault.message).toMatch(message);
    // A text of a hundred kilobytes may have any density.
    expect(scan(`[${part.repeat(120_000 / part.length)}0]`).text.length).toBeGreaterThan(110_000);
  });

  test('the memory for a text is bounded by its length', () => {
    const buffers = () => process.memoryUsage().arrayBuffers;
    for (const part of ['1,', '"",', '[],', '{"":1},', '[1,2,3,4],', '["a",{"b":12345678}],', 'x']) {
      const text = part === 'x' ? `"${filled(part)}"` : `[${filled(part)}0]`;
      const scanner = createScanner();
      const before = buffers();
      const held = accepts(scanner.scan, text);
      expect(`${part} ${held}: ${buffers() - before <= 1.75 * text.length + 2_000_000}`).toBe(`${part} ${held}: true`);
    }
  });

  test('short and long values, near the beginning and far from it', () => {
    const texts = [0, 1, 28, 29, 30, 31, 63, 64].flatMap((length) => ['x'.repeat(length), `\n${'漢'.repeat(length)}`]);
    const values = [
      ...texts,
      1,
      -1.5e-7,
      -1.234567890123456e-100,
      true,
      null,
      ...texts.map((text) => ({ [text]: [text] })),
    ];
    const far = `["${'x'.repeat(2 ** 25 - 100)}",${JSON.stringify(values)}]`;
    for (const json of [scan(JSON.stringify(['', values])), scan(far)]) expect(evaluate(json, 2)).toEqual(values);
  });

  test('a member repeated a million times, even with escapes', () => {
    const json = scan(`{${filled('"model":0,"m\\u006fdel":1,')}"other":2}`);
    expect(json.next(json.member(json.root, 'model') ?? -1)).toBe(json.size - 2);
  });
});

test('after very many lines, a fault is located by character', () => {
  const fault = (lines: number) => () => createScanner().scan(`{}${'\n'.repeat(lines)}x`);
  expect(fault(99_999)).toThrow('line 100000, column 1: expected nothing more');
  expect(fault(100_000)).toThrow('character 100003: expected nothing more');
});
