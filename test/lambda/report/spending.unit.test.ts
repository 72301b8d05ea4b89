import { expect, test } from '@jest/globals';
import { GatewayError } from '../../../lambda/errors.ts';
import { createLog } from '../../../lambda/report/log.ts';
import type { Outcome, RequestSoFar } from '../../../lambda/request/request.ts';

const lines: string[] = [];
const log = createLog({ write: (line) => void lines.push(line), now: () => 1_000, metricsNamespace: 'Test' });
const lastLine = () => JSON.parse(lines.at(-1) ?? '');

/** The line of an answered request with this outcome. */
function finish(outcome: Outcome) {
  const route = { kind: 'inference', name: 'chat', endpoint: { charged: true }, dialect: { name: 'chat' } };
  const call = { model: { id: 'svc-vision' }, stream: false };
  log.finished({ id: 'req_1', startedAt: 0, route, call, outcome } as unknown as RequestSoFar, 200);
  return lastLine();
}

/** What CloudWatch makes of a line: each metric with its dimensions, unit and value. */
const measured = (line: Record<string, unknown> & { _aws: { CloudWatchMetrics: Directive[] } }) =>
  Object.fromEntries(
    line._aws.CloudWatchMetrics.flatMap(({ Dimensions, Metrics }) =>
      Metrics.map(({ Name, Unit }) => [Name, [line[Name], Unit, ...(Dimensions[0] ?? []).map((name) => line[name])]]),
    ),
  );
interface Directive {
  readonly Dimensions: readonly (readonly string[])[];
  readonly Metrics: readonly { readonly Name: string; readonly Unit: string }[];
}

test('what an answer cost is logged and measured in the currency, by its model, with what caches saved', () => {
  const line = finish({ spending: { cost: 10_275, savedByCaches: -300 }, spendShare: 41.5 });
  expect(line.cost).toBe(0.010275);
  expect(measured(line)).toMatchObject({
    Spent: [0.010275, 'None', 'svc-vision'],
    SavedByCaches: [-0.0003, 'None'],
    SpendShare: [41.5, 'Percent'],
  });
});

test('where there are no prices, nothing is said about cost', () => {
  expect(JSON.stringify(finish({}))).not.toMatch(/cost|Spent|Saved|SpendShare/);
});

test('a refusal by the spending limit is at least 100 %, and no fault of the gateway', () => {
  const error = new GatewayError('service_unavailable', 'spent', { reason: 'spend_limit' });
  expect(measured(finish({ error, end: 'refused' })).SpendShare).toEqual([100, 'Percent']);
  expect(measured(finish({ error, end: 'refused', spendShare: 104 })).SpendShare).toEqual([104, 'Percent']);
  expect(lastLine()).toMatchObject({ level: 'info', reason: 'spend_limit' });
  expect(measured(lastLine())).not.toHaveProperty('GatewayErrors');
});

test('a settlement that was not written, and reservations that were lost, have a line and a metric each', () => {
  log.budgetLeftStanding('req_2', new RangeError('secret'));
  expect(lastLine()).toMatchObject({ level: 'warn', message: 'budget left standing', requestId: 'req_2' });
  expect(measured(lastLine())).toEqual({ BudgetLeftStanding: [1, 'Count'] });
  log.reservationsLost('req_3', 2, 1_500_000);
  expect(lastLine()).toMatchObject({ message: 'reservations lost', requestId: 'req_3', count: 2, reserved: 1.5 });
  expect(measured(lastLine())).toEqual({ LostReservations: [2, 'Count'] });
  expect(lines.join('')).not.toContain('secret');
});
