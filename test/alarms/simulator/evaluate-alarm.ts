import { evaluateExpression, type Series } from './metric-math.ts';
import type { MetricStore } from './metric-store.ts';
import type { AlarmDefinition } from './read-alarms.ts';

export type State = 'OK' | 'ALARM';

/** What AWS does not document: how many periods further back an alarm looks, and how many minutes figures are late. */
export interface Circumstances {
  readonly extraPeriods: number;
  readonly delay: number;
}

type Rule = Pick<AlarmDefinition, 'threshold' | 'evaluationPeriods' | 'datapointsToAlarm' | 'missing'>;

/**
 * The state by the points in the evaluation range, the latest first:
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
 * If there are enough real points, the latest of them decide alone. Missing ones only make up the number.
 */
export function judgePoints(points: Series, { threshold, evaluationPeriods, datapointsToAlarm, missing }: Rule): State {
  const real = points.filter((point) => point !== undefined).slice(0, evaluationPeriods);
  const filled = missing === 'breaching' ? evaluationPeriods - real.length : 0;
  const breaching = real.filter((point) => point >= threshold).length + filled;
  return breaching >= datapointsToAlarm ? 'ALARM' : 'OK';
}

/** An alarm's state at the end of a minute. It is evaluated each minute, over periods that end with it. */
export function evaluateAlarm(alarm: AlarmDefinition, store: MetricStore, minute: number, how: Circumstances): State {
  const { metrics, expression, period, evaluationPeriods } = alarm;
  const length = evaluationPeriods + how.extraPeriods;
  const known = minute + 1 - how.delay;
  const series = Object.entries(metrics).map(([name, { metric, statistic }]) => {
    const points = Array.from({ length }, (_, index) => {
      const end = minute + 1 - index * period;
      return store.read(metric, statistic, end - period, Math.min(end, known));
    });
    return [name, points];
  });
  return judgePoints(evaluateExpression(expression, Object.fromEntries(series)), alarm);
}
