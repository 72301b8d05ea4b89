import { describe, expect, test } from '@jest/globals';
import { type ClientTool, createToolTable, sizeOf, toolNamed } from '../../../../lambda/dialects/model/tools.ts';
import fc from '../../../support/properties.ts';

describe("the names of a request's tools", () => {
  test('a name that is taken or too long ends in a hash, which is stable', () => {
    const [first, second] = [createToolTable(64), createToolTable(64)];
    for (const table of [first, second]) expect(table.nameOf({ kind: 'function', name: 'a__b' })).toBe('a__b');
    expect(first.nameOf({ kind: 'function', namespace: 'x', name: 'y' })).toBe('x__y');
    const taken = first.nameOf({ kind: 'function', namespace: 'a', name: 'b' });
    expect(taken).toMatch(/^a__b_[0-9a-f]{8}$/);
    expect(second.nameOf({ kind: 'function', namespace: 'a', name: 'b' })).toBe(taken);
    expect(first.nameOf({ kind: 'custom', name: 'x'.repeat(65) })).toMatch(/^x{55}_[0-9a-f]{8}$/);
  });

  test('an unknown name is a function of that name', () => {
    expect(toolNamed(createToolTable(64).renamed, 'nothing__such')).toEqual({
      kind: 'function',
      name: 'nothing__such',
    });
  });

  test('only names that differ from the client’s are retained for the answer, and counted', () => {
    const table = createToolTable(64);
    for (const name of ['weather', 'time', 'weather']) table.nameOf({ kind: 'function', name });
    expect([table.renamed.size, sizeOf(table.renamed)]).toEqual([0, 0]);
    table.nameOf({ kind: 'function', name: 'read', namespace: 'files' });
    expect([...table.renamed]).toEqual([['files__read', { kind: 'function', name: 'read', namespace: 'files' }]]);
    const few = sizeOf(table.renamed);
    table.nameOf({ kind: 'custom', name: '漢'.repeat(100) });
    // Two bytes a character, for the client's names and for the upstream's, which are cut.
    expect(sizeOf(table.renamed) - few).toBeGreaterThan(2 * 100 + 2 * 64);
  });

  test('property: each name leads back to its tool, and no two tools share one', () => {
    const word = fc.stringMatching(/^[ab_]{1,40}$/);
    const tool = fc.record<ClientTool>({
      kind: fc.constantFrom('function', 'custom', 'tool_search'),
      name: word,
      namespace: fc.option(word, { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(tool, { maxLength: 30 }), (tools) => {
        const table = createToolTable(64);
        const named = tools.map((each) => table.nameOf(each));
        expect(named.map((name) => toolNamed(table.renamed, name))).toEqual(tools);
        expect(named.every((name) => name.length <= 64)).toBe(true);
      }),
    );
  });
});
