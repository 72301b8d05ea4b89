import { describe, expect, test } from '@jest/globals';
import { type Cooperative, charactersPerSlice, runCooperatively } from '../../../lambda/json/cooperative.ts';
import { createScanner } from '../../../lambda/json/scan.ts';
import { beginTape, type Tape, writeTape } from '../../../lambda/json/tape.ts';
import { JsonFault } from '../../../lambda/json/tokens.ts';
import fc from '../../support/properties.ts';
import { testRows } from '../../support/test-rows.ts';
import { brokenJson, printedJson } from './arbitrary-json.ts';

const newTape = (): Tape => ({ nodes: new Int32Array(64), size: 0, spans: new Int32Array(48), spanned: 0 });

/** The tape of a text read in parts of this many characters, or its fault. */
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

describe('a text that is read in parts', () => {
  const long = fc.integer({ min: 40, max: 200 }).map((length) => ({
    text: `{"${'k'.repeat(length)}":"${'v\\n'.repeat(length)}","${'k"'.repeat(2).replaceAll('"', '\\"')}":[1]}`,
  }));
  const texts = fc.oneof(printedJson, long).map(({ text }) => text);

  test('is read as if at once', () => {
    fc.assert(
      fc.property(fc.oneof(texts, brokenJson), fc.integer({ min: 1, max: 50 }), (text, part) => {
        expect(readInParts(text, part)).toEqual(readInParts(text, text.length + 1));
      }),
      { numRuns: 1000 },
    );
  });

  // A string is searched 65,536 characters at a time.
  const most = charactersPerSlice + 65_536;
  const size = 1_200_000;
  testRows([
    ['one long string', `"${'x'.repeat(size)}"`],
    ['a long key and a long value', `{"${'k'.repeat(size / 2)}":"${'v'.repeat(size / 2)}"}`],
    ['messages', `[${'{"role":"user","content":"Hello there!"},'.repeat(size / 41)}0]`],
  ])('is read only so many characters at a turn', (_, text) => {
    const tape = newTape();
    const progress = beginTape(text);
    let read = 0;
    for (let until = charactersPerSlice, isOver = false; !isOver; until += charactersPerSlice) {
      isOver = writeTape(text, tape, progress, until);
      const reached = Math.max(progress.at, progress.within);
      expect(reached - read).toBeLessThanOrEqual(most);
      read = reached;
    }
    expect(read).toBe(text.length);
    const turns = [...createScanner().scanInParts(text)].length + 1;
    expect(turns).toBeGreaterThanOrEqual(Math.floor(text.length / most));
  });
});

test('all long work together does one piece in a turn of the event loop', async () => {
  const pieces: string[] = [];
  function* work(name: string): Cooperative<string> {
    for (const piece of [1, 2, 3]) {
      pieces.push(`${name}${piece}`);
      yield;
    }
    return name;
  }
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
  const works = [...'abcd'].map((name) => runCooperatively(work(name)));
  setImmediate(count);
  doneInTurn = pieces.length; // the first of each was done when it came
  expect(await Promise.all(works)).toEqual([...'abcd']);
  isOver = true;
  expect(pieces).toHaveLength(12);
  expect(most).toBe(1);
  expect(turns).toBeGreaterThanOrEqual(8);
});

test('work for which nobody waits any more is abandoned', async () => {
  const stop = new AbortController();
  const done: number[] = [];
  const work = function* (): Cooperative<string> {
    for (const piece of [1, 2, 3]) {
      done.push(piece);
      if (piece === 2) stop.abort(new Error('the process stops'));
      yield;
    }
    return 'all';
  };
  await expect(runCooperatively(work(), stop.signal)).rejects.toThrow('the process stops');
  expect(done).toEqual([1, 2]);
});
