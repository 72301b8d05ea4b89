// Prints the size of V8's space for young objects: at first, and as more and more objects stay in use, while it is held and afterwards.
import { getHeapSpaceStatistics } from 'node:v8';
import { holdYoungSpace } from '../../../lambda/stream/young-space.ts';

const kept: object[] = [];
const sizeAfter = (objects: number) => {
  for (let made = 0; kept.length < objects; made += 1) {
    const one = {};
    if (made % 8 === 0) kept.push(one);
  }
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size;
};

const before = sizeAfter(5_000);
const releases = [holdYoungSpace(), holdYoungSpace()];
const heldByTwo = sizeAfter(500_000);
releases.pop()?.();
const heldByOne = sizeAfter(1_000_000);
releases.pop()?.();
console.log(JSON.stringify({ before, heldByTwo, heldByOne, released: sizeAfter(1_500_000) }));
