import { describe, expect, test } from '@jest/globals';
import { synthesizeStack } from '../support/stack.ts';
import { scenarios } from './scenarios.ts';
import { type Changes, listen } from './simulator/listen.ts';
import { createMetricStore } from './simulator/metric-store.ts';
import { readAlarms } from './simulator/read-alarms.ts';
import { createTraffic } from './traffic.ts';

const synthesized = synthesizeStack();
const alarms = readAlarms(synthesized.template.toJSON());
/** The trouble begins after two hours, and enough time follows for everything to end. */
const begins = 120;
const minutes = 420;

/** The latest minute at which an alarm rings. In all circumstances it must ring, not before the trouble, and end. */
function latestRing(changes: Changes): number | string {
  const firsts = changes.map(([first = Number.NaN]) => first);
  if (firsts.some(Number.isNaN)) return 'by chance';
  if (firsts.some((first) => first < begins)) return 'before there is trouble';
  if (changes.some(({ length }) => length % 2 === 1)) return 'for ever';
  return changes.some(({ length }) => length > 2) ? 'by turns' : Math.max(...firsts) + 1 - begins;
}

describe('what rings, and after how many minutes at the latest', () => {
  test.each(Object.entries(scenarios))('%s', (_what, { lasts = 90, trouble, otherwise = () => {}, rings }) => {
    const traffic = createTraffic(synthesized);
    for (let minute = 0; minute < minutes; minute += 1) {
      const since = minute - begins;
      const isTrouble = since >= 0 && since < lasts;
      (isTrouble ? trouble : otherwise)(traffic, minute, since);
    }
    const heard = Object.entries(listen(alarms, traffic.store, minutes));
    expect(Object.fromEntries(heard.map(([name, changes]) => [name, latestRing(changes)]))).toEqual(rings);
  });
});

const inScenarios = new Set(Object.values(scenarios).flatMap(({ rings }) => Object.keys(rings)));
const others = alarms.filter(({ name }) => !inScenarios.has(name));

test('an alarm that does not ring at the first figure has its scenarios in test/alarms/scenarios.ts', () => {
  const patient = others.filter(
    ({ period, threshold, datapointsToAlarm }) => period > 1 && threshold * datapointsToAlarm > 1,
  );
  expect(patient.map(({ name }) => name)).toEqual([]);
});

test.each(others.map((alarm) => [alarm.name, alarm] as const))(
  '%s rings at its threshold, and not below',
  (name, alarm) => {
    const [watched, ...more] = Object.values(alarm.metrics);
    expect(more).toEqual([]);
    const heard = [0, 1].map((below) => {
      const store = createMetricStore();
      if (watched)
        for (let minute = 120; minute < 210; minute += 1) store.add(minute, watched.metric, alarm.threshold - below);
      return Object.entries(listen([alarm], store, minutes)).map(([heardOf, changes]) => [
        heardOf,
        latestRing(changes),
      ]);
    });
    // Figures may be two minutes late.
    const after = (alarm.period === 1 ? alarm.datapointsToAlarm : 1) + 2;
    expect(heard).toEqual([[[name, after]], []]);
  },
);
