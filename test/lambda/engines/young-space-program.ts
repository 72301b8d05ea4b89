// Prints the size of V8's space for young objects: at first, and as more and more objects stay in use, while a body holds it and
// afterwards.
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { getHeapSpaceStatistics } from 'node:v8';
import { holdYoungSpace, longBody } from '../../../lambda/engines/young-space.ts';

const kept: object[] = [];
const sizeAfter = (objects: number) => {
  for (let made = 0; kept.length < objects; made += 1) {
    const one = {};
    if (made % 8 === 0) kept.push(one);
  }
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size;
};

const before = sizeAfter(5_000);
const body = new PassThrough();
const release = holdYoungSpace(body);
body.end(Buffer.alloc(longBody + 1));
await once(body, 'end');
const held = sizeAfter(1_000_000);
release();
console.log(JSON.stringify({ before, held, released: sizeAfter(1_500_000) }));
