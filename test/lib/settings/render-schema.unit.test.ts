import { expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import { describedSettings } from '../../../lib/settings/described.ts';
import { renderSchema } from '../../../lib/settings/render-schema.ts';

const { properties } = JSON.parse(renderSchema()).definitions.settings;
const settings = [...describedSettings.values()].flat().filter(({ name }) => Object.hasOwn(properties, name));
const ajv = new Ajv({ allowUnionTypes: true });

const someTexts = ['true', 'none', 'a', 'A b', '-1', '0', '7', '1.5', '1e3', '9'.repeat(10), 'https://a.example/v1'];

test.each(settings)(
  '$name may be every text that the gateway reads, and as a number whatever is in its bounds',
  (one) => {
    const { name, setting } = one;
    const { parse, fallback = '', schema = {} } = setting;
    const isValid = ajv.compile(properties[name]);
    const texts = [...someTexts, ...(schema.enum ?? []).map(String), fallback];
    expect(texts.filter((text) => parse(text) !== undefined && !isValid(text))).toEqual([]);
    expect(isValid('')).toBe(true);
    const { minimum, maximum } = schema;
    const numbers = [minimum, maximum, ...(schema.enum ?? [])].filter((value) => typeof value === 'number');
    const outside = [...(minimum === undefined ? [] : [minimum - 1]), ...(maximum === undefined ? [] : [maximum + 1])];
    expect([...numbers, ...outside].map((value) => isValid(value))).toEqual([
      ...numbers.map(() => true),
      ...outside.map(() => false),
    ]);
    expect(outside.map((value) => parse(String(value)))).toEqual(outside.map(() => undefined));
  },
);

test('describes each setting, with a link and its default', () => {
  expect(settings.length).toBeGreaterThan(80);
  expect(properties.MEMBER_LIMIT).toEqual({
    description: expect.stringContaining('keys with counters of their own (docs/sign-in.md#limits-and-revoking)'),
    default: 50,
    type: ['integer', 'string'],
    minimum: 0,
    maximum: 1_000_000,
    pattern: '^\\d*$',
  });
});
