import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Duration, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { type FunctionProps, OwnFunction, toRead } from './own-function.ts';

interface CanaryProps extends FunctionProps {
  /** Where clients find the gateway. */
  readonly url: string;
  /** Its own key. */
  readonly secret: Secret;
}

/** Calls the gateway from outside every five minutes, as a client would: what keeps callers out can't be seen from inside. */
export class Canary extends OwnFunction {
  constructor(scope: Construct, id: string, { url, secret, ...props }: CanaryProps) {
    super(scope, id, {
      ...props,
      description: 'Private inference gateway: canary',
      memorySize: 256, // it mostly waits
      timeout: Duration.minutes(1),
      environment: {
        CANARY_URL: url,
        CANARY_SECRET_ID: secret.secretArn,
        SERVICE_NAME: props.config.environment.SERVICE_NAME ?? '',
        METRICS_NAMESPACE: Stack.of(scope).stackName,
      },
      rights: toRead(secret),
    });
    new Rule(this, 'Schedule', {
      description: 'Asks the gateway as a client does',
      schedule: Schedule.rate(Duration.minutes(5)),
      targets: [new LambdaFunction(this.function, { retryAttempts: 0 })],
    });
  }
}
