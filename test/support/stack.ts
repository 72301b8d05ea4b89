import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { App, Validations } from 'aws-cdk-lib/core';
import featureFlags from 'aws-cdk-lib/recommended-feature-flags.json' with { type: 'json' };
import { AwsSolutionsChecks } from 'cdk-nag';
import { readDeploymentConfig } from '../../lib/config.ts';
import { judgeTemplate } from '../../lib/diff/guarantees/index.ts';
import { GatewayStack } from '../../lib/gateway-stack.ts';

export interface SynthesizedStack {
  readonly stack: GatewayStack;
  readonly template: Template;
  /** The AwsSolutions rules that the stack breaks with an acknowledged reason. Breaking any other makes the synthesis throw. */
  readonly acknowledged: readonly string[];
}

/** The required settings. */
export const least = {
  UPSTREAM_BASE_URL: 'https://upstream.example/v1',
  UPSTREAM_TEXT_MODEL: 'text-model',
  UPSTREAM_VISION_MODEL: 'vision-model',
};

interface HowToSynthesize {
  readonly context?: Readonly<Record<string, unknown>>;
  readonly commit?: string;
  /** Whether the CDK's own rules are applied, which takes seconds. */
  readonly isValidated?: boolean;
}

/** The stack with these settings, synthesized in this process as `bin/gateway.ts` does it, with empty functions. */
export function synthesizeStack(
  settings: Readonly<Record<string, unknown>> = {},
  { context, commit, isValidated = false }: HowToSynthesize = {},
): SynthesizedStack {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-stack-'));
  try {
    const built = (name: string) => join(folder, name);
    const code = {
      gateway: built('gateway'),
      accounts: built('accounts'),
      server: built('server'),
      canary: built('canary'),
    };
    for (const [name, path] of Object.entries(code)) {
      mkdirSync(path);
      writeFileSync(join(path, 'index.mjs'), `// ${name}`);
    }
    const config = readDeploymentConfig({ defaults: { ...least, ...settings }, stages: { dev: {} } });
    const app = new App({
      context: { ...featureFlags, ...context },
      outdir: join(folder, 'out'),
      builtinCloudFormationValidation: isValidated,
    });
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    const stack = new GatewayStack(app, 'InferenceGateway', { config, commit, code });
    const template = Template.fromStack(stack);
    const { faults } = judgeTemplate(template.toJSON());
    if (faults.length > 0) throw new Error(faults.join('\n'));
    return { stack, template, acknowledged: readAcknowledged(join(folder, 'out/validation-report.json')) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The logical id of the one resource of this type whose id begins so. */
export function findId(template: Template, type: string, prefix: string): string {
  const [id, ...more] = Object.keys(template.findResources(type)).filter((each) => each.startsWith(prefix));
  if (id === undefined || more.length > 0) throw new Error(`not one, but ${[id, ...more]}: ${type} ${prefix}…`);
  return id;
}

interface Report {
  readonly pluginReports: readonly {
    readonly pluginName: string;
    readonly suppressedViolations: readonly { readonly ruleName: string; readonly reason: string }[];
  }[];
}

function readAcknowledged(path: string): string[] {
  const { pluginReports }: Report = JSON.parse(readFileSync(path, 'utf8'));
  const [report] = pluginReports.filter(({ pluginName }) => pluginName === 'AwsSolutions');
  if (!report) throw new Error('cdk-nag did not run');
  return report.suppressedViolations.filter(({ reason }) => reason !== '').map(({ ruleName }) => ruleName);
}
