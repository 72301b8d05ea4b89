import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import type { Watches } from './watch.ts';

/** Creates an alarm for each, which notifies the topic when it rings and when it is over. */
export function createAlarms(scope: Construct, topic: Topic, watches: Watches): Alarm[] {
  const action = new SnsAction(topic);
  return Object.entries(watches).map(([name, { what, runbook, metric, threshold, times, among, silenceRings }]) => {
    const alarm = new Alarm(scope, name, {
      alarmDescription: `${what} What to do: docs/operations.md#${runbook}`,
      metric,
      threshold,
      evaluationPeriods: among,
      datapointsToAlarm: times,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      // Usually silence means that nobody called.
      treatMissingData: silenceRings ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    });
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
    return alarm;
  });
}
