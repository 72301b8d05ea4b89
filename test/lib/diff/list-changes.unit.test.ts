import { expect, test } from '@jest/globals';
import { listChanges } from '../../../lib/diff/changes.ts';
import { isWithin } from '../../../lib/diff/template.ts';
import { renderComparison } from '../../../operator/diff/render-comparison.ts';

const rendered = (before: unknown, after: unknown) =>
  listChanges(before, after).map(
    (change) => `${change.path}: ${JSON.stringify(change.before)} ${JSON.stringify(change.after)}`,
  );

test.each<[string, unknown, unknown, string[]]>([
  ['nothing', { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, []],
  ['a value deep inside', { a: { b: '3', c: '1' } }, { a: { b: '5', c: '1' } }, ['a.b: "3" "5"']],
  ['what comes and what goes', { a: 1 }, { b: 2 }, ['a: 1 undefined', 'b: undefined 2']],
  ['an element of a list', { a: ['x', 'y'] }, { a: ['x', 'y', 'z'] }, ['a[]: undefined "z"']],
  ['an element among others', [{ n: 1 }, { n: 2 }], [{ n: 0 }, { n: 1 }, { n: 2 }], ['[]: undefined {"n":0}']],
  ['inside an element', [{ n: 1 }, { n: 2 }], [{ n: 1 }, { n: 3 }], ['[1].n: 2 3']],
  ['the order alone', { a: [1, 2] }, { a: [2, 1] }, ['a (order): [1,2] [2,1]']],
  ['equal elements are counted', [1, 1], [1], ['[]: 1 undefined']],
  ['a reference is one value', { a: { Ref: 'X' } }, { a: { Ref: 'Y' } }, ['a: {"Ref":"X"} {"Ref":"Y"}']],
  ['a reference and a text', { a: { 'Fn::GetAtt': ['X', 'Arn'] } }, { a: 'x' }, ['a: {"Fn::GetAtt":["X","Arn"]} "x"']],
])('%s', (_name, before, after, expected) => {
  expect(rendered(before, after)).toEqual(expected);
});

test.each([
  ['Tags', 'Tags', true],
  ['Tags[0].Key', 'Tags', true],
  ['Tags (order)', 'Tags', true],
  ['TagsOfOthers', 'Tags', false],
  ['Replicas[1].Tags.x', 'Replicas[].Tags', true],
  ['Variables.UPSTREAM_2_URL', 'Variables.UPSTREAM*_URL', true],
  ['Variables.UPSTREAM.x_URL', 'Variables.UPSTREAM*_URL', false],
  ['GatewayUrl', '', true],
])('%s is within the place "%s": %s', (path, place, expected) => {
  expect(isWithin(path, place)).toBe(expected);
});

test('a long value is shortened to the part that differs', () => {
  const long = (word: string) => `${'a'.repeat(500)} ${word} ${'b'.repeat(500)}`;
  const others = [{ path: 'Description', before: long('old'), after: long('new') }];
  const [line = ''] = renderComparison({ before: {}, after: {}, resources: [], others });
  expect(line).toMatch(/^~ Description …a+ old b+… -> …a+ new b+…$/);
  expect(line.length).toBeLessThan(200);
});
