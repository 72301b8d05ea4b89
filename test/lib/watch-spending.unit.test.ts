import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { metrics } from '../../lambda/report/metrics.ts';
import { anchorsIn } from '../docs/markdown.ts';
import { PRICES } from '../support/prices.ts';
import { synthesizeStack } from '../support/stack.ts';

interface Watched {
  readonly Threshold: number;
  readonly Statistic: string;
  readonly TreatMissingData: string;
  readonly AlarmDescription: string;
  readonly AlarmActions: readonly unknown[];
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
])('%j rings at four fifths, and says where the runbook is', (settings, names) => {
  const alarms = spendingAlarms(settings);
  expect(Object.keys(alarms)).toEqual(names);
  for (const { Threshold, Statistic, TreatMissingData, AlarmDescription, AlarmActions } of Object.values(alarms)) {
    expect({ Threshold, Statistic, TreatMissingData }).toEqual({
      ...{ Threshold: 80, Statistic: 'Average', TreatMissingData: 'notBreaching' },
    });
    expect(AlarmActions).toHaveLength(1);
    const [, runbook] = /docs\/operations\.md#([a-z-]+)$/.exec(AlarmDescription) ?? [];
    expect(anchorsIn(readFileSync('docs/operations.md', 'utf8'))).toContain(runbook);
  }
});

test.each([
  [{ PRICES }, ['BudgetsLeftStanding', 'ReservationsLost']],
  [{ PRICES, SPEND_LIMIT: 20 }, ['NearingSpendLimit', 'SpendLimitReached', 'BudgetsLeftStanding', 'ReservationsLost']],
])('with %j budgets are watched, and runbooks are there', (settings, names) => {
  const alarms = Object.entries(synthesizeStack(settings).template.findResources('AWS::CloudWatch::Alarm'));
  const own = alarms.flatMap(([id, { Properties }]) => {
    const [, name = ''] = /^Alarms(\w*?(?:SpendLimit|Budgets|Reservations)\w*?)[0-9A-F]{8}$/.exec(id) ?? [];
    return name === '' ? [] : [{ name, runbook: Properties.AlarmDescription.split('#')[1] }];
  });
  expect(own.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  const headings = anchorsIn(readFileSync('docs/operations.md', 'utf8'));
  for (const { runbook } of own) expect(headings).toContain(runbook);
});

test('the function gets the limits as they are set', () => {
  synthesizeStack({ DAILY_LIMIT: 1000, GUEST_DAILY_LIMIT: 10 }).template.hasResourceProperties(
    'AWS::Lambda::Function',
    {
      Environment: { Variables: { DAILY_LIMIT: '1000', GUEST_DAILY_LIMIT: '10' } },
    },
  );
});

test.each(['0', '10000001', 'many'])('%s is not a limit', (limit) => {
  expect(() => synthesizeStack({ DAILY_LIMIT: limit })).toThrow(
    'DAILY_LIMIT must be a whole number from 1 to 10000000',
  );
});
