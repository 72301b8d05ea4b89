import { homedir } from 'node:os';
import { join } from 'node:path';
import { App, Validations } from 'aws-cdk-lib/core';
import featureFlags from 'aws-cdk-lib/recommended-feature-flags.json' with { type: 'json' };
import { AwsSolutionsChecks } from 'cdk-nag';
import { ConfigError } from '../lambda/settings/read-settings.ts';
import { EdgeAlarmsStack } from '../lib/alarms/edge.ts';
import { type Artifact, artifacts } from '../lib/bundle.ts';
import { type DeploymentConfig, readDeploymentConfig } from '../lib/config.ts';
import { ownFile, readOwnFile } from '../lib/deployment-block.ts';
import { judgeTemplate } from '../lib/diff/guarantees/index.ts';
import { GatewayStack } from '../lib/gateway-stack.ts';
import { dropCleanReport, findCommit, findContextFaults, findDocs } from '../lib/synthesis.ts';

// The CDK's current behaviour rather than that of older apps. The template's snapshot shows what a CDK upgrade changes.
const app = new App({ context: featureFlags });
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
const context = app.node.getAllContext();
const faults = findContextFaults(context, process.cwd(), homedir());
// `-c distribution=ID` adds the alarms of an edge that is already deployed: CloudFormation can't pass its id between regions.
const { distribution: distributionId } = context;
if (distributionId !== undefined && !/^E[A-Z0-9]{8,}$/.test(distributionId)) {
  faults.push('-c distribution must be the id of the distribution, as the output EdgeDistribution has it');
}
// `-c commit=` leaves the commit out, to compare with another one.
const commit: string | undefined = (context.commit ?? findCommit(process.cwd())) || undefined;
const read = readConfigOrExit(context.gateway, context.stage);
const config = { ...read, DOCS_URL: read.DOCS_URL ?? (commit && findDocs(process.cwd())) };
// Built into this synthesis's own output folder, so that parallel runs don't overwrite each other.
const codeOf = (name: Artifact) => join(app.outdir, name);
const needed = ['accounts', config.engine === 'web' ? 'server' : 'gateway', ...(config.canary ? ['canary'] : [])];
for (const name of needed as Artifact[]) await artifacts[name](codeOf(name));
new GatewayStack(app, 'InferenceGateway', { config, commit, codeOf });
if (config.edge && distributionId) new EdgeAlarmsStack(app, 'EdgeAlarms', { config, distributionId });
// The synthesized template must keep the gateway's guarantees, whatever the stacks' code says.
for (const { template } of app.synth().stacks) complain(judgeTemplate(template));
dropCleanReport(app.outdir);

function readConfigOrExit(block: unknown, stage: unknown): DeploymentConfig {
  try {
    const config = readDeploymentConfig(block, stage, readOwnFile(process.cwd()));
    for (const taken of config.taken) console.error(inFile(taken));
    complain({ faults, warnings: config.warnings.map(inFile) });
    return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    complain({ faults: [...faults, ...error.faults.map(inFile)], warnings: [] });
    throw error;
  }
}

function inFile(fault: string): string {
  return fault.startsWith(ownFile) ? fault : `cdk.json, ${fault}`;
}

/** Prints all warnings and faults. A fault fails the synthesis. */
function complain(found: { readonly faults: readonly string[]; readonly warnings: readonly string[] }): void {
  for (const warning of found.warnings) console.error(`warning: ${warning}`);
  for (const fault of found.faults) console.error(fault);
  if (found.faults.length > 0) process.exit(1);
}
