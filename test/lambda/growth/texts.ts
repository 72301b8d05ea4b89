import type { Shape } from './bodies.ts';

const shape = (part: string, before = '', after = ''): Shape => ({
  name: before + part + after,
  text: (times) => before + part.repeat(times) + after,
});

/** JSON texts, whole and broken. */
export const documents: readonly Shape[] = [
  ...['1,', '[],', '{},', '"",', '"\\n",', '"\\u0041",', '[1,[2]],', '{"":0},', ' ', '-1.5e+3,'].map((part) =>
    shape(part, '[', '1]'),
  ),
  ...['a', '\\n', '\\u0041', '漢', `${'x'.repeat(60)}\\"`].map((part) => shape(part, '["', '"]')),
  ...['[', '{"a":', '[1,', '"', '\n', '1', '{"\\u0061":1,'].map((part) => shape(part)),
  { name: 'nested', text: (times) => `${'[{"a":'.repeat(times)}1${'}]'.repeat(times)}` },
  {
    name: 'nested, with the most inside last',
    text: (times) => `${'[1,2,{"b":3,"a":'.repeat(times)}1${'}]'.repeat(times)}`,
  },
];

/** Texts to hide names in, of which much begins like one. */
export const prose: readonly Shape[] = [
  ...['A', 'Acm', 'AcmeCorp', 'acmecorp/thunder-', 'Thunde ', 'aacme', 'acme', 'acme_', '\ud83d', '😀'].map((part) =>
    shape(part),
  ),
  shape('acmecorp/', '', 'thunder-70b-instruct'),
];

/** Bodies of upstreams' error answers. */
export const errorBodies: readonly Shape[] = [
  ...['Acme ', 'www.', 'http://', 'www.) ', 'https://a.).', 'sk-', 'sk-a ', 'sk-abcd1 ', ')', '\\n', 'KEY', 'KE'].map(
    (part) => shape(part, '{"error":{"message":"', '"}}'),
  ),
  ...['10.0.0.1 ', '10.0.0.', 'a1.a.local ', 'a.local.'].map((part) => shape(part, '{"error":{"message":"', '"}}')),
  shape('),', '{"error":{"message":"see www.', '"}}'),
  shape('{"msg":"a"},', '{"detail":[', '{}]}'),
  shape('"a",', '{"detail":[{"msg":"b","loc":[', '1]}]}'),
  shape('{"message":"a"},', '{"errors":[', '1]}'),
  shape('{"error":"a"},', '[', '1]'),
  shape('"error":null,', '{', '"message":"a"}'),
];
