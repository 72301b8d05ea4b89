import { homedir } from 'node:os';
import { join } from 'node:path';
import { App, Validations } from 'aws-cdk-lib/core';
import featureFlags from 'aws-cdk-lib/recommended-feature-flags.json' with { type: 'json' };
import { AwsSolutionsChecks } from 'cdk-nag';
import { ConfigError } from '../lambda/settings/read.ts';
import { EdgeAlarmsStack } from '../lib/alarms/edge.ts';
import { bundle, bundleAccounts, bundleServer } from '../lib/bundle.ts';
import { type DeploymentConfig, readDeploymentConfig } from '../lib/config.ts';
import { judgeContext, readConfigured } from '../lib/context.ts';
import { judgeTemplate } from '../lib/diff/guarantees/index.ts';
import { GatewayStack } from '../lib/gateway-stack.ts';
import { dropCleanReport, findCommit } from '../lib/synthesis.ts';

// The CDK's current behaviour, not the one for older apps. The template's snapshot shows what an upgrade changes.
const app = new App({ context: featureFlags });
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
complain(judgeContext(app.node.getAllContext(), readConfigured(process.cwd(), homedir())));
// `-c commit=` leaves it out, for a comparison with another commit.
const commit: string | undefined = (app.node.tryGetContext('commit') ?? findCommit(process.cwd())) || undefined;
const config = readConfigOrExit(app.node.tryGetContext('gateway'), app.node.tryGetContext('stage'));
// Built into the folder that is being synthesized, so that two runs side by side don't meet.
const code = {
  gateway: join(app.outdir, 'gateway'),
  accounts: join(app.outdir, 'accounts'),
  server: join(app.outdir, 'server'),
  canary: join(app.outdir, 'canary'),
};
await bundle('lambda/index.ts', code.gateway);
await bundleAccounts(code.accounts);
if (config.engine !== 'function-url') await bundleServer(code.server);
if (config.canary) await bundle('lambda/canary/index.ts', code.canary);
new GatewayStack(app, 'InferenceGateway', { config, commit, code });
// `-c distribution=ID` adds the alarms of an edge that is already deployed. Its id can't be passed between regions.
const distributionId = readDistributionOrExit(app.node.tryGetContext('distribution'));
if (config.edge && distributionId) new EdgeAlarmsStack(app, 'EdgeAlarms', { config, distributionId });
const { stacks } = app.synth();
dropCleanReport(app.outdir);
// What is synthesized must keep what the gateway guarantees, whatever the code of its stacks came to say.
const judged = stacks.map(({ template }) => judgeTemplate(template));
complain({ faults: judged.flatMap(({ faults }) => faults), warnings: judged.flatMap(({ warnings }) => warnings) });

function readDistributionOrExit(id: unknown): string | undefined {
  if (id === undefined || (typeof id === 'string' && /^E[A-Z0-9]{8,}$/.test(id))) return id;
  console.error('-c distribution must be the id of the distribution, as the output EdgeDistribution has it');
  process.exit(1);
}

/** Says all warnings and faults. A fault ends the synthesis. */
function complain({ faults, warnings }: { faults: readonly string[]; warnings: readonly string[] }): void {
  for (const warning of warnings) console.error(`warning: ${warning}`);
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exit(1);
}

function readConfigOrExit(block: unknown, stage: unknown): DeploymentConfig {
  try {
    const config = readDeploymentConfig(block, stage);
    for (const warning of config.warnings) console.error(`warning: cdk.json, ${warning}`);
    return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const fault of error.faults) console.error(`cdk.json, ${fault}`);
    process.exit(1);
  }
}
