import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import featureFlags from 'aws-cdk-lib/recommended-feature-flags.json' with { type: 'json' };
import { ConfigError } from '../lambda/config.ts';
import { bundle } from '../lib/bundle.ts';
import { type DeploymentConfig, readDeploymentConfig } from '../lib/config.ts';
import { GatewayStack } from '../lib/gateway-stack.ts';

// The CDK of today, without the habits that it keeps for older apps; what an upgrade changes shows in the template's snapshot.
const app = new App({ context: featureFlags });
const config = readConfigOrExit(app.node.tryGetContext('gateway'));
// Built into the folder that is being synthesized, so that two runs side by side don't meet.
const code = join(app.outdir, 'gateway');
await bundle('lambda/index.ts', code);
new GatewayStack(app, 'InferenceGateway', { config, code });

function readConfigOrExit(block: unknown): DeploymentConfig {
  try {
    return readDeploymentConfig(block);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const fault of error.faults) console.error(`cdk.json, gateway: ${fault}`);
    process.exit(1);
  }
}
