import type { Template } from '../../lib/diff/template.ts';
import { pathContext, synthesizeStack } from './stack.ts';

/** Everything that the stack can have at once: alarms with a recipient, a second upstream, a canary, an edge with a domain and a web ACL. */
export const everything = {
  alarmEmail: 'on-call@example.com',
  terminationProtection: true,
  reservedConcurrency: 100,
  logRetentionDays: 30,
  DAILY_LIMIT: 10_000,
  GUEST_DAILY_LIMIT: 1_000,
  UPSTREAM_NAMES: 'vendor,model-x',
  UPSTREAM_2_BASE_URL: 'https://second.example/v1',
  UPSTREAM_2_TEXT_MODEL: 'second-text',
  UPSTREAM_2_VISION_MODEL: 'second-vision',
  canary: true,
  edge: true,
  edgeDomainName: 'api.example.com',
  edgeCertificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/abc',
  edgeWebAclArn: 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/one/two',
};

/** Settings that move the same deployment to the web engine. */
export const onWeb = { engine: 'web', reservedConcurrency: '', maxEnvironments: 20, rateLimit: 500 };

/** A web function beside all else. No deployment has both, but the gate judges part by part. */
export function synthesizeWithBothEngines(settings: Readonly<Record<string, unknown>> = {}): Template {
  const [web, functionUrl] = [synthesizeWhole({ ...onWeb, ...settings }), synthesizeWhole(settings)];
  return { ...functionUrl, Resources: { ...web.Resources, ...functionUrl.Resources } };
}

const synthesized = new Map<string, Template>();

/** The template of a deployment in use, as the gate reads it: made once for the same settings, so only a copy may be edited. */
export function synthesizeWhole(settings: Readonly<Record<string, unknown>> = {}): Template {
  const key = JSON.stringify(settings);
  const made = synthesized.get(key) ?? synthesizeAnew(settings);
  synthesized.set(key, made);
  return made;
}

function synthesizeAnew(settings: Readonly<Record<string, unknown>>): Template {
  const { template, stack } = synthesizeStack({ ...everything, ...settings }, { context: pathContext });
  const { stackName: name, terminationProtection = false, tags } = stack;
  return { ...template.toJSON(), Stack: { name, terminationProtection, tags: tags.tagValues() } };
}
