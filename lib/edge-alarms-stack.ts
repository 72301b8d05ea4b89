import { CfnOutput, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { createAlarms, createTopic } from './alarms/alarm.ts';
import { watchEdge } from './alarms/edge.ts';
import type { DeploymentConfig } from './config.ts';
import { createEdgeMetrics } from './edge.ts';

interface EdgeAlarmsProps {
  readonly config: DeploymentConfig;
  readonly distributionId: string;
}

/**
 * Alarms on CloudFront's metrics, which exist only in us-east-1. An alarm can use only metrics and topics of its own region, so
 * these have their own stack and topic.
 */
export class EdgeAlarmsStack extends Stack {
  constructor(scope: Construct, id: string, { config, distributionId }: EdgeAlarmsProps) {
    super(scope, id, {
      stackName: `InferenceGateway-${config.stage}-edge-alarms`,
      description: 'Private inference gateway: alarms on its edge',
      env: { region: 'us-east-1' },
    });
    const topic = createTopic(this, config.alarmEmail);
    createAlarms(this, topic, watchEdge(createEdgeMetrics(distributionId, config.edge?.webAclArn)));
    new CfnOutput(this, 'AlarmTopic', { value: topic.topicArn });
  }
}
