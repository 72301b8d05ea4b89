import { Duration } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { environmentOf, type GatewayProps, rightsOf } from './gateway-terms.ts';
import { PublicFunction } from './public-function.ts';

/** The function that answers every request for inference, one at a time in each of its environments. */
export class GatewayFunction extends PublicFunction {
  constructor(scope: Construct, id: string, props: GatewayProps) {
    const { config, commit, code } = props;
    super(scope, id, {
      config,
      commit,
      description: 'Private inference gateway',
      code,
      memorySize: config.memorySize,
      timeout: Duration.minutes(15), // Lambda's longest; REQUEST_TIMEOUT ends a request before it
      reservedConcurrency: config.reservedConcurrency,
      environment: environmentOf(scope, props),
    });
    for (const [resource, ...actions] of rightsOf(props)) this.allow(resource, ...actions);
  }
}
