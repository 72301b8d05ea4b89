import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { DeploymentConfig } from '../config.ts';
import type { GatewayMetrics } from '../gateway-metrics.ts';
import { createTopic } from './topic.ts';
import type { Watches } from './watch.ts';
import { watchCanary } from './watch-canary.ts';
import { watchFunctions } from './watch-functions.ts';
import { watchGateway } from './watch-gateway.ts';
import { watchSpending } from './watch-spending.ts';
import { watchTables } from './watch-tables.ts';
import { watchUpstream } from './watch-upstream.ts';

interface AlarmsProps {
  readonly config: DeploymentConfig;
  readonly metrics: GatewayMetrics;
}

/** What wakes somebody up. Every metric that an alarm looks at costs ten cents a month. */
export class Alarms extends Construct {
  readonly topic: Topic;
  readonly alarms: readonly Alarm[];

  constructor(scope: Construct, id: string, { config, metrics }: AlarmsProps) {
    super(scope, id);
    this.topic = createTopic(this, config.alarmEmail);
    this.alarms = createAlarms(this, this.topic, {
      ...watchUpstream(config, metrics),
      ...watchGateway(metrics),
      ...watchFunctions(config, metrics),
      ...watchTables(metrics),
      ...watchCanary(metrics),
      ...watchSpending(config, metrics),
    });
  }
}

function createAlarms(scope: Construct, topic: Topic, watches: Watches): Alarm[] {
  const action = new SnsAction(topic);
  return Object.entries(watches).map(([name, { what, runbook, metric, threshold, times, among, silenceRings }]) => {
    const alarm = new Alarm(scope, name, {
      alarmDescription: `${what} What to do: docs/operations.md#${runbook}`,
      metric,
      threshold,
      evaluationPeriods: among,
      datapointsToAlarm: times,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      // Mostly, silence means that nobody called.
      treatMissingData: silenceRings ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    });
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
    return alarm;
  });
}
