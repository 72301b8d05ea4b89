import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { DeploymentConfig } from '../config.ts';
import type { GatewayMetrics } from '../gateway-metrics.ts';
import { createAlarms } from './create-alarms.ts';
import { createTopic } from './topic.ts';
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

/** All alarms, and the topic that they notify. Every metric that an alarm watches costs ten cents a month. */
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
