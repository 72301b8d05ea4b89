import { CfnOutput, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { createAlarms } from './alarms/create-alarms.ts';
import { createTopic } from './alarms/topic.ts';
import { watchEdge } from './alarms/watch-edge.ts';
import type { DeploymentConfig } from './config.ts';
import { createEdgeMetrics } from './edge-metrics.ts';

interface EdgeAlarmsProps {
  readonly config: DeploymentConfig;
  readonly distributionId: string;
}

/**
 * Alarms on CloudFront's figures, which stand in us-east-1. An alarm looks only at its own region, and tells only topics of it:
 * so this is a stack beside the gateway's, with a topic of its own.
 */
export class EdgeAlarmsStack extends Stack {
  constructor(scope: Construct, id: string, { config, distributionId }: EdgeAlarmsProps) {
    super(scope, id, {
      stackName: `InferenceGateway-${config.stage}-edge-alarms`,
      description: 'Private inference gateway: alarms on its edge',
      env: { region: 'us-east-1' },
    });
    const topic = createTopic(this, config.alarmEmail);
    createAlarms(this, topic, watchEdge(createEdgeMetrics(distributionId)));
    new CfnOutput(this, 'AlarmTopic', { value: topic.topicArn });
  }
}
