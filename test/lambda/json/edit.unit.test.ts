import { describe, expect, test } from '@jest/globals';
import {
  applyEdits,
  changeMembers,
  createElementRemover,
  type Edit,
  earlierDuplicates,
  splitByEdits,
} from '../../../lambda/json/edit.ts';
import { createScanner, type Json, type Node } from '../../../lambda/json/scan.ts';
import fc, { many } from '../../support/properties.ts';
import { testRows } from '../../support/test-rows.ts';
import { printedJson } from './arbitrary-json.ts';

const scan = (text: string) => createScanner().scan(text);
const runs = { numRuns: many(120) };

/** An object's members: the decoded key, and the original text from key to value. */
function membersOf(json: Json, object: Node): [string, string][] {
  return [...json.keys(object)].map((key) => [json.string(key), json.text.slice(json.start(key), json.end(key + 1))]);
}

const objectsOf = (json: Json) =>
  Array.from({ length: json.size }, (_, node) => node).filter((node) => json.kind(node) === 'object');

/** A JSON text with an object in it, and the object's node. */
const objectIn = fc
  .tuple(printedJson, fc.nat())
  .filter(([{ text }]) => objectsOf(scan(text)).length > 0)
  .map(([{ text }, choice]) => {
    const objects = objectsOf(scan(text));
    return { text, object: objects[choice % objects.length] ?? 0 };
  });

/** `2-6:y` replaces the characters from 2 to 6 by `y`. */
const listEdits = (written: string): Edit[] =>
  [...written.matchAll(/(\d+)-(\d+):(\S*)/g)].map(([, start, end, text = '']) => ({
    start: Number(start),
    end: Number(end),
    text,
  }));

describe('applying edits', () => {
  testRows([
    ['none', '', '0123456789'],
    ['an edit inside another is swallowed', '3-4:x 2-6:y 5-6:x 2-3:x', '01y6789'],
    ['an insertion inside another edit is swallowed', '3-3:x 2-6:y', '01y6789'],
    ['insertions at its edges stand', '2-6:y 2-2:< 6-6:>', '01<y>6789'],
    ['insertions at one place keep their order', '4-4:a 4-4:b 4-4:c', '0123abc456789'],
    ['the same edit twice is one', '4-5:a 4-5:a', '0123a56789'],
    ['neighbours both stand', '4-5:a 5-6:b 3-4:', '012ab6789'],
    ['at both ends', '0-0:< 10-10:>', '<0123456789>'],
  ])('leaves all else as it was', (_, edits, expected) => {
    expect(applyEdits('0123456789', listEdits(edits))).toBe(expected);
  });
  test('edits that contradict each other throw', () => {
    expect(() => applyEdits('0123456789', listEdits('1-5: 4-8:'))).toThrow(RangeError);
  });

  test('pieces are never empty, and as few as possible', () => {
    expect(splitByEdits('0123456789', listEdits('0-1: 4-5:x 9-10:'))).toEqual(['123', 'x', '5678']);
    expect(splitByEdits('', [])).toEqual([]);
  });
});

describe('changing members', () => {
  const names = fc.constantFrom('model', 'ab', '', 'new', 'another "new"', '__proto__');

  test('everything that is not dropped or set stays as it was, in order', () => {
    fc.assert(
      fc.property(
        objectIn,
        fc.func(fc.boolean()),
        fc.dictionary(names, fc.constantFrom('1.0', '"v"', '{}')),
        (given, chosen, set) => {
          const { text, object } = given;
          const json = scan(text);
          const drop = new Set([...json.keys(object)].filter((key) => chosen(key)));
          const edited = applyEdits(text, changeMembers(json, object, { drop, set }));

          const names = Object.keys(set);
          const replaced = new Map(
            names
              .map((name) => [(json.member(object, name) ?? 0) - 1, name] as const)
              .filter(([key]) => key >= 0 && !drop.has(key)),
          );
          const expected = [...json.keys(object)].flatMap((key, place) => {
            if (drop.has(key)) return [];
            const name = replaced.get(key);
            const member = membersOf(json, object)[place];
            if (name === undefined) return [member];
            return [[name, text.slice(json.start(key), json.start(key + 1)) + set[name]]];
          });
          const added = names.filter((name) => ![...replaced.values()].includes(name));
          const again = scan(edited);
          expect(membersOf(again, object)).toEqual([
            ...expected,
            ...added.map((name) => [name, `${JSON.stringify(name)}:${set[name]}`]),
          ]);
          expect(edited.slice(0, again.start(object))).toBe(text.slice(0, json.start(object)));
          expect(edited.slice(again.end(object))).toBe(text.slice(json.end(object)));
        },
      ),
      runs,
    );
  });
});

test('property: removed elements are gone with their commas, and the others are as they were', () => {
  fc.assert(
    fc.property(fc.array(printedJson), fc.array(fc.boolean()), (written, chosen) => {
      const texts = written.map(({ text }) => text);
      const json = scan(`[ ${texts.join(' , ')} ]`);
      const remover = createElementRemover(json, json.root);
      for (const [index, element] of [...json.elements(json.root)].entries()) {
        if (chosen[index]) remover.remove();
        else remover.keep(element);
      }
      const left = applyEdits(json.text, remover.finish());
      expect(JSON.parse(left)).toEqual(texts.filter((_, index) => !chosen[index]).map((text) => JSON.parse(text)));
    }),
    runs,
  );
});

test('earlier duplicates are all but the last of each name', () => {
  fc.assert(
    fc.property(objectIn, ({ text, object }) => {
      const json = scan(text);
      const named = [...json.keys(object)].filter((key) => ['model', 'ab', ''].includes(json.string(key)));
      const earlier = named.filter((key) => json.member(object, json.string(key)) !== key + 1);
      expect([...earlierDuplicates(json, object, new Set(['model', 'ab', '']))].sort((a, b) => a - b)).toEqual(earlier);
    }),
    runs,
  );
});
