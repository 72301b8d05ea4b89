import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { App, Validations } from 'aws-cdk-lib/core';
import featureFlags from 'aws-cdk-lib/recommended-feature-flags.json' with { type: 'json' };
import { AwsSolutionsChecks } from 'cdk-nag';
import { EdgeAlarmsStack } from '../../lib/alarms/edge.ts';
import { readDeploymentConfig } from '../../lib/config.ts';
import { judgeTemplate } from '../../lib/diff/guarantees/index.ts';
import { namesOf, partsOf, type Template as Whole } from '../../lib/diff/template.ts';
import { GatewayStack } from '../../lib/gateway-stack.ts';

/** The required settings. */
const least = {
  UPSTREAM_BASE_URL: 'https://upstream.example/v1',
  UPSTREAM_TEXT_MODEL: 'text-model',
  UPSTREAM_VISION_MODEL: 'vision-model',
};

interface HowToSynthesize {
  readonly context?: Readonly<Record<string, unknown>>;
  readonly commit?: string;
  /** Whether to apply the AwsSolutions rules. */
  readonly isJudged?: boolean;
  /** Whether to run the CDK's own validation, which takes seconds. */
  readonly isValidated?: boolean;
}

/** The stack with these settings, synthesized in this process as `bin/gateway.ts` does, with empty functions. */
export function synthesizeStack(
  settings: Readonly<Record<string, unknown>> = {},
  { context, commit, isJudged = false, isValidated = false }: HowToSynthesize = {},
) {
  return inFolder((folder) => {
    const codeOf = (name: string) => {
      const path = join(folder, name);
      mkdirSync(path);
      writeFileSync(join(path, 'index.mjs'), `// ${name}`);
      return path;
    };
    const config = readDeploymentConfig({ defaults: { ...least, ...settings }, stages: { dev: {} } });
    const app = new App({
      context: { ...featureFlags, ...context },
      outdir: join(folder, 'out'),
      builtinCloudFormationValidation: isValidated,
    });
    if (isJudged) Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    const stack = new GatewayStack(app, 'InferenceGateway', { config, commit, codeOf });
    const template = Template.fromStack(stack);
    const { faults } = judgeTemplate(template.toJSON());
    if (faults.length > 0) throw new Error(faults.join('\n'));
    // The AwsSolutions rules that the stack breaks with an acknowledged reason. Breaking any other makes the synthesis throw.
    const acknowledged = isJudged ? readAcknowledged(join(folder, 'out/validation-report.json')) : [];
    return { stack, template, acknowledged };
  });
}

// biome-ignore lint/suspicious/noExplicitAny: a test reaches into a template as deep as it pleases
export type AnyTree = any;

/** Adds each construct's path, as the CDK's command line does. */
export const pathContext = { 'aws:cdk:enable-path-metadata': true };

/**
 * The same stack, for tests that read it: its parts by construct path, such as `Wallet/Function`, with references replaced by
 * those paths. `template` keeps its references.
 */
export function synthesizeParts(settings: Readonly<Record<string, unknown>> = {}, how: HowToSynthesize = {}) {
  const { template, ...rest } = synthesizeStack(settings, { ...how, context: pathContext });
  const json: Whole = template.toJSON();
  const names = namesOf(json);
  const readable: Whole = JSON.parse(JSON.stringify(json), (_, value) => {
    const { Ref, 'Fn::GetAtt': attribute, 'Fn::Join': join } = Object(value);
    if (typeof Ref === 'string') return names[Ref] ?? Ref;
    if (attribute) return `${names[attribute[0]]}.${attribute[1]}`;
    return join ? join[1].join(join[0]) : value;
  });
  const found = partsOf(readable);
  const parts: AnyTree = Object.fromEntries(found.map(({ name, tree }) => [name, tree]));
  const namesOfType = (type: string) => found.filter((part) => part.type === type).map(({ name }) => name);
  return { ...rest, template: json, parts, outputs: parts['the outputs'], namesOfType };
}

/** The stack of the edge's alarms. */
export function synthesizeEdgeAlarms(settings: Readonly<Record<string, unknown>> = {}) {
  const config = readDeploymentConfig(
    { defaults: { ...least, edge: true, ...settings }, stages: { prod: {} } },
    'prod',
  );
  return inFolder((outdir) => {
    const app = new App({ outdir, builtinCloudFormationValidation: false });
    const stack = new EdgeAlarmsStack(app, 'EdgeAlarms', { config, distributionId: 'E123456789' });
    return { stack, template: Template.fromStack(stack) };
  });
}

/** Runs with a temporary folder. */
function inFolder<T>(run: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-stack-'));
  try {
    return run(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
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
