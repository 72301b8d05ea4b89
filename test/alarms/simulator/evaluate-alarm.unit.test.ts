import { expect, test } from '@jest/globals';
import { evaluateAlarm, judgePoints } from './evaluate-alarm.ts';
import { createMetricStore } from './metric-store.ts';

// The tables in AWS's guide for alarms that look at 5 points and evaluate 3 of them, the oldest point first:
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
test.each<[string, number, string, string]>([
  ['0 - X - X', 3, 'OK', 'OK'],
  ['0 - - - -', 3, 'OK', 'OK'],
  ['- - - - -', 3, 'ALARM', 'OK'],
  ['0 X X - X', 3, 'ALARM', 'ALARM'],
  ['- - - - X', 3, 'ALARM', 'OK'],
  ['0 - X - X', 2, 'ALARM', 'ALARM'],
  ['0 0 X 0 X', 2, 'ALARM', 'ALARM'],
  ['0 - X - -', 2, 'ALARM', 'OK'],
  ['- - - - 0', 2, 'ALARM', 'OK'],
  ['- - - - X', 2, 'ALARM', 'OK'],
])(
  '%s, with %d of 3 to alarm: %s where what is missing breaches, %s where not',
  (text, datapointsToAlarm, ...states) => {
    const values: Readonly<Record<string, number>> = { X: 1, 0: 0 };
    const points = text.split(' ').map((letter) => values[letter]);
    const rule = { threshold: 1, evaluationPeriods: 3, datapointsToAlarm };
    const judged = (['breaching', 'notBreaching'] as const).map((missing) =>
      judgePoints(points.toReversed(), { ...rule, missing }),
    );
    expect(judged).toEqual(states);
  },
);

test('an alarm looks at periods that end with the minute, and at the figures that have arrived', () => {
  const metric = { Namespace: 'n', MetricName: 'm' };
  const store = createMetricStore();
  for (const minute of [10, 14]) store.add(minute, metric, 2);
  const alarm = {
    ...{ name: 'a', period: 5, threshold: 4, evaluationPeriods: 1, datapointsToAlarm: 1 },
    ...{ missing: 'notBreaching' as const, metrics: { only: { metric, statistic: 'Sum' } }, expression: 'only' },
  };
  const states = (delay: number) =>
    [13, 14, 15, 16].map((minute) => evaluateAlarm(alarm, store, minute, { extraPeriods: 0, delay }));
  expect(states(0)).toEqual(['OK', 'ALARM', 'OK', 'OK']);
  expect(states(1)).toEqual(['OK', 'OK', 'OK', 'OK']);
});
