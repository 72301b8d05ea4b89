import { CfnOutput, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { DeploymentConfig } from '../config.ts';
import { createEdgeMetrics, type EdgeMetrics } from '../edge-metrics.ts';
import { createAlarms, createTopic, fillGaps, lasting, type Watches } from './alarm.ts';

interface EdgeAlarmsProps {
  readonly config: DeploymentConfig;
  readonly distributionId: string;
}

/**
 * Alarms on CloudFront's metrics, which exist only in us-east-1. An alarm can only use metrics and topics of its own region, so
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
    createAlarms(this, topic, watchEdge(createEdgeMetrics(distributionId, config.edgeWebAclArn)), config.DOCS_URL);
    new CfnOutput(this, 'AlarmTopic', { value: topic.topicArn });
  }
}

/** With fewer requests in five minutes, a percentage says little. */
const fewest = 20;
const percent = { failing: 10, timingOut: 5, refusing: 50 };

/** CloudFront's responses, its own or the gateway's. */
function watchEdge({ requests, failed, unavailable, timedOut, forbidden, blocked }: EdgeMetrics): Watches {
  return {
    EdgeFailing: {
      what: `Of all answers at the edge, at least ${percent.failing} % are failures (5xx but 503).`,
      // 503 is left out: the gateway answers it when it is limited, or stopped on purpose.
      metric: fillGaps({ requests, failed, unavailable }, `IF(requests >= ${fewest}, failed - unavailable, 0)`),
      threshold: percent.failing,
      ...lasting,
    },
    EdgeTimingOut: {
      what: `Of all answers at the edge, at least ${percent.timingOut} % are 504: the gateway was silent for too long.`,
      metric: fillGaps({ requests, late: timedOut }, `IF(requests >= ${fewest}, late, 0)`),
      threshold: percent.timingOut,
      ...lasting,
    },
    EdgeRefusing: {
      what: `Of all requests at the edge, at least ${percent.refusing} % are answered 403${blocked ? ', or blocked by the web ACL' : ''}.`,
      // A web ACL may also block with 403, so the two shares can't be added.
      metric: blocked
        ? fillGaps(
            { requests, forbidden, blocked },
            `IF(requests >= ${fewest}, IF(100 * blocked / requests > forbidden, 100 * blocked / requests, forbidden), 0)`,
          )
        : fillGaps({ requests, forbidden }, `IF(requests >= ${fewest}, forbidden, 0)`),
      threshold: percent.refusing,
      ...lasting,
    },
  };
}
