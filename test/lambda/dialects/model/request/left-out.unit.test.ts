import { describe, expect, test } from '@jest/globals';
import { firstOf, namePlaces } from '../../../../../lambda/dialects/model/request/left-out.ts';
import { createScanner } from '../../../../../lambda/json/scan.ts';

/** The header if all members of a body were left out. */
function headerFor(names: readonly string[]): string | undefined {
  const json = createScanner().scan(`{${names.map((name) => `${JSON.stringify(name)}:1`).join()}}`);
  const values = [...json.keys(json.root)].map((key) => key + 1);
  return namePlaces(json, firstOf(values.toReversed()), values.length);
}

describe('the header that names what was left out', () => {
  test.each<[names: string[], header: string | undefined]>([
    [[], undefined],
    [['a'], 'a'],
    [['b', 'a'], 'b, a'],
    [['a', 'a'], 'a'],
    [['a,b'], 'a?b'],
    [[''], '?'],
    [['a\r\nx-evil: 1', 'é', '🙂', '\u0000 '], 'a??x-evil:?1, ?, ??, ??'],
    [['x'.repeat(1_000_000)], 'x'.repeat(100)],
  ])('%#', (names, header) => expect(headerFor(names)).toBe(header));

  test('does not show names that the caller made up in the log', () => {
    const json = createScanner().scan('{"known":{"alice@home.example":1,"a.b]":[2]},"bob":3}');
    const known = json.root + 2;
    const nodes = [
      ...[...json.keys(known)].map((key) => key + 1),
      ...[...json.keys(json.root)].slice(1).map((key) => key + 1),
    ];
    expect(namePlaces(json, [known, ...nodes], 4, new Set(nodes))).toBe('known, known.?, ?');
    expect(namePlaces(json, nodes, 3)).toBe('known.alice@home.example, known.a.b], bob');
  });

  test('names twenty places and the number of others, in at most 2 KB', () => {
    const names = Array.from({ length: 5_000 }, (_, index) => `${index}${'n'.repeat(200)}`);
    const header = headerFor(names) ?? '';
    expect(header.length).toBeLessThanOrEqual(2_048);
    expect(header.split(', ').map((place) => place.length)).toEqual([...Array<number>(20).fill(100), 5]);
    expect(header).toMatch(/^0n.*, 19n+, \+4980$/);
  });
});
