import { expect, test } from '@jest/globals';
import { evaluateExpression } from './metric-math.ts';

const gap = undefined;

// The examples of AWS's guide: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
test.each<[string, Readonly<Record<string, readonly (number | undefined)[]>>, readonly (number | undefined)[]]>([
  ['metric1 < metric2', { metric1: [30, 20, 0, 0], metric2: [20, gap, 20, gap] }, [0, 0, 1, 0]],
  ['metric1 >= 30', { metric1: [30, 20, 0, 0] }, [1, 0, 0, 0]],
  [
    'IF(metric1, metric2, metric3)',
    { metric1: [1, 1, 0, 0, gap], metric2: [30, gap, 0, 0, 30], metric3: [0, 0, 20, gap, 20] },
    [30, 0, 20, gap, gap],
  ],
  ['IF(metric1, 5, metric3)', { metric1: [1, 1, 0, 0, gap], metric3: [0, 0, 20, gap, 20] }, [5, 5, 20, gap, gap]],
  ['IF(metric1, metric2, 5)', { metric1: [1, 1, 0, 0, gap], metric2: [30, gap, 0, 0, 30] }, [30, 0, 5, 5, gap]],
  ['FILL(metric1, 0)', { metric1: [gap, 2, gap] }, [0, 2, 0]],
  // One missing operand is 0; a division by 0 has no value.
  ['a - b', { a: [5, gap, gap], b: [2, 2, gap] }, [3, -2, gap]],
  ['100 * a / (a + b)', { a: [1, 0, gap], b: [3, 0, 1] }, [25, gap, 0]],
  ['1 + 2 * a - 3', { a: [4] }, [6]],
])('%s', (expression, series, result) => {
  expect(evaluateExpression(expression, series)).toEqual(result);
});

test.each(['a +', 'a $ 1', 'b', '(a', 'a a', '1 + 1', 'SUM(a)'])('%s is not understood', (expression) => {
  expect(() => evaluateExpression(expression, { a: [1] })).toThrow();
});
