import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { DeploymentConfig } from '../config.ts';
import type { GatewayMetrics } from '../gateway-metrics.ts';
import { createAlarms, createTopic } from './alarm.ts';
import { watchFunctions } from './functions.ts';
import { watchGateway } from './gateway.ts';
import { watchSettings } from './settings.ts';

interface AlarmsProps {
  readonly config: DeploymentConfig;
  readonly metrics: GatewayMetrics;
}

/** All alarms, and their topic. Every metric that an alarm watches costs ten cents a month. */
export class Alarms extends Construct {
  readonly topic: Topic;
  readonly alarms: readonly Alarm[];

  constructor(scope: Construct, id: string, { config, metrics }: AlarmsProps) {
    super(scope, id);
    this.topic = createTopic(this, config.alarmEmail);
    const watches = {
      ...watchGateway(config, metrics),
      ...watchFunctions(config, metrics),
      ...watchSettings(config, metrics),
    };
    this.alarms = createAlarms(this, this.topic, watches, config.DOCS_URL);
  }
}
