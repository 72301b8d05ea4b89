import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { Template } from 'aws-cdk-lib/assertions';
import { App } from 'aws-cdk-lib/core';
import { readDeploymentConfig } from '../../../lib/config.ts';
import { EdgeAlarmsStack } from '../../../lib/edge-alarms-stack.ts';
import { renderDocument } from '../../../operator/cost/blocks.ts';
import { canary, inventory, usualMemory } from '../../../operator/cost/prices.ts';
import { least, synthesizeStack } from '../../support/stack.ts';

/** What costs money while nobody calls, in all of these templates. */
function countPaid(...templates: readonly Template[]) {
  const count = (type: string) => templates.flatMap((each) => Object.values(each.findResources(type)));
  const watched = count('AWS::CloudWatch::Alarm').flatMap(({ Properties }) => {
    const parts: readonly { readonly MetricStat?: object }[] = Properties.Metrics ?? [{ MetricStat: {} }];
    return parts.filter(({ MetricStat }) => MetricStat !== undefined);
  });
  return {
    secrets: count('AWS::SecretsManager::Secret').length,
    watchedMetrics: watched.length,
    dashboards: count('AWS::CloudWatch::Dashboard').length,
    tables: count('AWS::DynamoDB::GlobalTable').length,
  };
}

/** The same with what an option adds. */
function withAdded(added: Readonly<Record<string, number>>) {
  return Object.fromEntries(Object.entries(inventory.least).map(([name, count]) => [name, count + (added[name] ?? 0)]));
}

test('docs/hosting.md has the figures that the script computes: run `npm run cost`', () => {
  const text = readFileSync('docs/hosting.md', 'utf8');
  expect(text).toMatch(/<!-- computed: \w+ -->/);
  expect(text).toBe(renderDocument(text));
  expect(() => renderDocument('<!-- computed: nothing -->\n<!-- end -->')).toThrow('under the name nothing');
});

test('the idle costs are those of the template’s resources', () => {
  const { template } = synthesizeStack();
  expect(countPaid(template)).toEqual(inventory.least);
  for (const type of ['AWS::KMS::Key', 'AWS::CloudFront::Distribution', 'AWS::WAFv2::WebACL', 'AWS::EC2::NatGateway'])
    template.resourceCountIs(type, 0);
  template.hasResourceProperties('AWS::Lambda::Function', { MemorySize: usualMemory, Architectures: ['arm64'] });
});

test('the canary’s costs are those of its resources', () => {
  const { template } = synthesizeStack({ canary: true });
  expect(countPaid(template)).toEqual(withAdded(inventory.canary));
  template.hasResourceProperties('AWS::Events::Rule', { ScheduleExpression: `rate(${canary.minutesBetween} minutes)` });
  template.hasResourceProperties('AWS::Lambda::Function', { MemorySize: canary.memory, Timeout: 60 });
});

test('the edge’s costs are those of its resources, and of its alarms in us-east-1', () => {
  const config = readDeploymentConfig({ defaults: { ...least, edge: true }, stages: { dev: {} } });
  const app = new App({ builtinCloudFormationValidation: false });
  const alarms = new EdgeAlarmsStack(app, 'EdgeAlarms', { config, distributionId: 'E123456789' });
  const { template } = synthesizeStack({ edge: true });
  expect(countPaid(template, Template.fromStack(alarms))).toEqual(withAdded(inventory.edge));
});

// Worked out by hand: such as 5,000,000 gigabyte-seconds, $66.67, for a million streams of 10 s at 512 MB.
test.each([
  ['**all of that, without a single request**', '**$6.00**'],
  ['streams of 10 s', '$43.16 | $76.50 | $143.16 | $8.28'],
])('the row of %s is %s', (name, figures) => {
  const text = renderDocument('<!-- computed: idle -->\n<!-- end -->\n<!-- computed: million -->\n<!-- end -->');
  expect(text).toContain(`| ${name} | ${figures} |`);
});
