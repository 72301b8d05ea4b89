import { describe, expect, test } from '@jest/globals';
import { createScanner } from '../../../lambda/json/scan.ts';
import { beginTape, type Tape, writeTape } from '../../../lambda/json/tape.ts';
import { JsonFault } from '../../../lambda/json/tokens.ts';
import { takeTurn } from '../../../lambda/json/turns.ts';
import fc, { many } from '../../support/properties.ts';
import { testRows } from '../../support/test-rows.ts';
import { brokenJson, printedJson } from './arbitrary-json.ts';

const newTape = (): Tape => ({ nodes: new Int32Array(64), size: 0, spans: new Int32Array(48), spanned: 0 });

/** The tape of a text that is scanned in parts of this many characters, or its fault. */
function readInParts(text: string, part: number) {
  const tape = newTape();
  try {
    const progress = beginTape(text);
    for (let until = part; !writeTape(text, tape, progress, until); until += part);
  } catch (fault) {
    if (fault instanceof JsonFault) return fault.message;
    throw fault;
  }
  return { nodes: [...tape.nodes.subarray(0, tape.size)], spans: [...tape.spans.subarray(0, tape.spanned * 3)] };
}

describe('a text that is scanned in parts', () => {
  const long = fc.integer({ min: 40, max: 200 }).map((length) => ({
    text: `{"${'k'.repeat(length)}":"${'v\\n'.repeat(length)}","${'k"'.repeat(2).replaceAll('"', '\\"')}":[1]}`,
  }));
  const texts = fc.oneof(printedJson, long).map(({ text }) => text);

  test('gives the same as if scanned at once', () => {
    fc.assert(
      fc.property(fc.oneof(texts, brokenJson), fc.integer({ min: 1, max: 50 }), (text, part) => {
        expect(readInParts(text, part)).toEqual(readInParts(text, text.length + 1));
      }),
      { numRuns: many(300) },
    );
  });

  const size = 1_200_000;
  // Of 262,144 characters, and of up to 65,536 more of a string.
  const longestPart = 262_144 + 65_536;
  testRows([
    ['one long string', `"${'x'.repeat(size)}"`],
    ['a long key and a long value', `{"${'k'.repeat(size / 2)}":"${'v'.repeat(size / 2)}"}`],
    ['messages', `[${'{"role":"user","content":"Hello there!"},'.repeat(size / 41)}0]`],
  ])('gives others their turn', async (_, text) => {
    const { scanning, turns } = countTurns(() => createScanner().scanInTurns(text, Number.POSITIVE_INFINITY));
    expect((await scanning)?.text).toBe(text);
    expect(turns()).toBeGreaterThanOrEqual(Math.floor(text.length / longestPart));
  });

  test('is abandoned as soon as it has more values than wanted', async () => {
    const text = `[${'0,'.repeat(size / 2)}0]`;
    const { scanning, turns } = countTurns(() => createScanner().scanInTurns(text, 20_000));
    expect(await scanning).toBeUndefined();
    expect(turns()).toBeLessThan(2);
    expect((await createScanner().scanInTurns('[1,2]', 3))?.size).toBe(3);
    expect(await createScanner().scanInTurns('[1,2]', 2)).toBeUndefined();
  });
});

/** Counts the turns of the event loop that pass meanwhile. */
function countTurns<T>(work: () => Promise<T>) {
  let turns = 0;
  let isOver = false;
  const count = () => {
    if (isOver) return;
    turns += 1;
    setImmediate(count);
  };
  setImmediate(count);
  const scanning = work().finally(() => {
    isOver = true;
  });
  return { scanning, turns: () => turns };
}

test('all long scans together do one piece per turn of the event loop', async () => {
  const pieces: string[] = [];
  const work = async (name: string): Promise<string> => {
    for (const piece of [1, 2, 3]) {
      await takeTurn();
      pieces.push(`${name}${piece}`);
    }
    return name;
  };
  let turns = 0;
  let doneInTurn = 0;
  let most = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    most = Math.max(most, pieces.length - doneInTurn);
    doneInTurn = pieces.length;
    if (!isOver) setImmediate(count);
  };
  const works = [...'abcd'].map(work);
  setImmediate(count);
  expect(await Promise.all(works)).toEqual([...'abcd']);
  isOver = true;
  expect(pieces).toHaveLength(12);
  expect(most).toBe(1);
  expect(turns).toBeGreaterThanOrEqual(8);
});
