import { expect } from '@jest/globals';
import { readTrace, traceparentOf } from '../../../lambda/request/trace.ts';
import { testRows } from '../../support/test-rows.ts';

const id = '0af7651916cd43dd8448eb211c80319c';
const parent = 'b7ad6b7169203331';

testRows([`00-${id}-${parent}-01`, `00-${id}-${parent}-00`, `cc-${id}-${parent}-01-what-the-future-brings`])(
  'a valid traceparent names a trace, in which the gateway has a span of its own',
  (traceparent) => {
    const trace = readTrace(traceparent);
    expect(trace).toEqual({
      id,
      parent,
      span: expect.stringMatching(/^[0-9a-f]{16}$/),
      flags: traceparent.slice(53, 55),
    });
    expect(trace?.span).not.toBe(readTrace(traceparent)?.span);
    expect(trace && traceparentOf(trace)).toBe(`00-${id}-${trace?.span}-${traceparent.slice(53, 55)}`);
  },
);

testRows([
  undefined,
  '',
  `ff-${id}-${parent}-01`,
  `00-${'0'.repeat(32)}-${parent}-01`,
  `00-${id}-${'0'.repeat(16)}-01`,
  `00-${id.toUpperCase()}-${parent}-01`,
  `00-${id}-${parent}-01-more`,
  `00-${id}-${parent}-0`,
  `cc-${id}-${parent}-01more`,
  `00-${id}-${parent}-01, 00-${id}-${parent}-01`,
])('any other names none', (traceparent) => {
  expect(readTrace(traceparent)).toBeUndefined();
});
