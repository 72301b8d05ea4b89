import { expect, test } from '@jest/globals';
import { metrics } from '../../lambda/report/metrics.ts';
import { PRICES } from '../support/prices.ts';
import { synthesizeStack } from '../support/stack.ts';

interface Watched {
  readonly Threshold: number;
  readonly Statistic: string;
}

interface Figure {
  readonly MetricStat?: { readonly Metric: { readonly MetricName: string }; readonly Stat: string };
}

/** The alarms on limits of spending, by metric. */
function spendingAlarms(settings: Readonly<Record<string, unknown>>): Readonly<Record<string, Watched>> {
  const alarms = Object.values(synthesizeStack(settings).template.findResources('AWS::CloudWatch::Alarm'));
  const watched = alarms.flatMap(({ Properties }) => {
    const figures: readonly Figure[] = Properties.Metrics ?? [];
    return figures.flatMap(({ MetricStat }) => {
      if (
        !MetricStat ||
        !/^((Guest)?DailyLimitUsed|SpendShare|BudgetLeftStanding|LostReservations)$/.test(MetricStat.Metric.MetricName)
      )
        return [];
      return [[MetricStat.Metric.MetricName, { ...Properties, Statistic: MetricStat.Stat }] as const];
    });
  });
  return Object.fromEntries(watched);
}

test('no limit, no alarm', () => {
  expect(spendingAlarms({})).toEqual({});
});

test.each([
  [{ DAILY_LIMIT: 1000 }, [metrics.dailyLimitUsed.name, metrics.guestDailyLimitUsed.name]],
  [{ GUEST_DAILY_LIMIT: 1000 }, [metrics.guestDailyLimitUsed.name]],
])('%j rings at four fifths', (settings, names) => {
  const alarms = spendingAlarms(settings);
  expect(Object.keys(alarms)).toEqual(names);
  for (const { Threshold, Statistic } of Object.values(alarms)) expect([Threshold, Statistic]).toEqual([80, 'Average']);
});

test.each([
  [{ PRICES }, ['BudgetsLeftStanding', 'ReservationsLost']],
  [{ PRICES, SPEND_LIMIT: 20 }, ['NearingSpendLimit', 'SpendLimitReached', 'BudgetsLeftStanding', 'ReservationsLost']],
])('with %j budgets are watched', (settings, names) => {
  const ids = Object.keys(synthesizeStack(settings).template.findResources('AWS::CloudWatch::Alarm'));
  const own = ids.flatMap(
    (id) => /^Alarms(\w*?(?:SpendLimit|Budgets|Reservations)\w*?)[0-9A-F]{8}$/.exec(id)?.[1] ?? [],
  );
  expect(own.toSorted()).toEqual(names.toSorted());
});
