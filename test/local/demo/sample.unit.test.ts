import { expect, test } from '@jest/globals';
import { sampleOf } from '../../../local/demo/sample.ts';

const word = (property: string) => `a ${property}`;

const samples: [schema: Parameters<typeof sampleOf>[0], sample: unknown][] = [
  [{ type: 'string' }, 'a '],
  [{ const: 4 }, 4],
  [{ enum: ['b', 'c'] }, 'b'],
  [{ type: ['null', 'integer'] }, 7],
  [{ type: 'number', minimum: 12 }, 12],
  [{ type: 'number', maximum: 5 }, 5],
  [{ anyOf: [{ type: 'boolean' }, { type: 'null' }] }, true],
  [{ type: 'string', format: 'date' }, '2026-11-21'],
  [{ type: 'null' }, null],
  [{ type: 'array', items: { type: 'integer' } }, [7]],
  [{ type: 'array', items: { type: 'integer' }, minItems: 3 }, [7, 7, 7]],
  [{ properties: { city: { type: 'string' } } }, { city: 'a city' }],
  [{ type: 'object', properties: { a: { type: 'string' }, b: {} }, required: ['a'] }, { a: 'a a' }],
  [{ $ref: '#/$defs/far', $defs: { far: { $ref: '#/$defs/near' }, near: { type: 'boolean' } } }, true],
];
test('a sample fits its schema', () => {
  expect(samples.map(([schema]) => [schema, sampleOf(schema, word)])).toEqual(samples);
});

test('a recursive schema comes to an end', () => {
  const schema = { type: 'object', properties: { child: { $ref: '#' } } };
  expect(JSON.stringify(sampleOf(schema, word))).toContain('child');
  expect(sampleOf({ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }, word)).toBe('a ');
});
