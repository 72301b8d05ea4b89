import { type Circumstances, evaluateAlarm } from './evaluate-alarm.ts';
import type { MetricStore } from './metric-store.ts';
import type { AlarmDefinition } from './read-alarms.ts';

/** Everything that CloudWatch's documentation allows: looking back no further than needed or much further, prompt figures or late ones. */
const circumstances = ({ evaluationPeriods }: AlarmDefinition): readonly Circumstances[] =>
  [0, 2, evaluationPeriods].flatMap((extraPeriods) => [0, 2].map((delay) => ({ extraPeriods, delay })));

/** The minutes at which an alarm alternately rings and ends, for each of the circumstances. */
export type Changes = readonly (readonly number[])[];

/** Evaluates every alarm minute by minute, and returns the ringing of those that rang at all. */
export function listen(
  alarms: readonly AlarmDefinition[],
  store: MetricStore,
  minutes: number,
): Readonly<Record<string, Changes>> {
  const heard = alarms.map((alarm) => {
    const isSilent = !Object.values(alarm.metrics).some(({ metric }) => store.has(metric));
    const changes = circumstances(alarm).map((how) => {
      const stateAt = (minute: number) => evaluateAlarm(alarm, store, minute, how);
      // Without any figure all minutes are alike.
      const states = isSilent
        ? Array(minutes).fill(stateAt(0))
        : Array.from({ length: minutes }, (_, at) => stateAt(at));
      return states.flatMap((state, minute) => (state === (states[minute - 1] ?? 'OK') ? [] : [minute]));
    });
    return [alarm.name, changes] as const;
  });
  return Object.fromEntries(heard.filter(([, changes]) => changes.some(({ length }) => length > 0)));
}
