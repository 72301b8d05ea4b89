import { PolicyStatement, type PolicyStatementProps, type Role } from 'aws-cdk-lib/aws-iam';
import { Aws, Validations } from 'aws-cdk-lib/core';
import { isMantle } from '../lambda/settings/bedrock.ts';
import type { Upstream } from '../lambda/settings/read-upstreams.ts';
import { deployedRegion } from './config.ts';

/** Prefixes of inference profiles. They don't tell which regions the profile calls, so its model is allowed in all. */
const profile = /^(?:[a-z]{2}(?:-[a-z]+)?|apac|global)\.(?=[^.]+\.)/;

/** Allows the gateway to call the configured models of Amazon Bedrock with short-term tokens, and nothing else there. */
export function allowBedrock(role: Role, upstreams: readonly Upstream[]): void {
  const rights = rightsFor(upstreams);
  for (const right of rights) role.addToPolicy(new PolicyStatement(right));
  for (const resource of rights.flatMap(({ resources = [] }) => resources).filter((one) => one.includes('*'))) {
    // Named as in the rule's finding.
    const named = resource.replace(Aws.PARTITION, '<AWS::Partition>');
    const reason = resource === '*' ? toAnyToken : toAnyRegion;
    Validations.of(role).acknowledge({ id: `AwsSolutions::AwsSolutions-IAM5[Resource::${named}]`, reason });
  }
}

const toAnyToken = 'Tokens have no ARN. Which models can be called with one, the other statements limit.';
const toAnyRegion =
  "An inference profile's id does not tell its regions. The condition allows the model only through the profile.";

function rightsFor(upstreams: readonly Upstream[]): PolicyStatementProps[] {
  const own = upstreams.filter(({ tokenRegion }) => tokenRegion !== undefined);
  const [atMantle, atRuntime] = [own.filter(isMantle), own.filter((upstream) => !isMantle(upstream))];
  return [
    ...distinct(atRuntime.flatMap(modelsOf)).flatMap(mayInvoke),
    ...distinct(atMantle.map(regionOf)).map(mayInfer),
    ...(atRuntime.length > 0 ? [mayUseToken('bedrock')] : []),
    ...(atMantle.length > 0 ? [mayUseToken('bedrock-mantle')] : []),
  ];
}

const regionOf = ({ tokenRegion = '' }: Upstream): string =>
  tokenRegion === deployedRegion ? Aws.REGION : tokenRegion;

interface Model {
  readonly id: string;
  readonly region: string;
}

const modelsOf = (upstream: Upstream): Model[] =>
  Object.values(upstream.models)
    .flatMap(({ text, vision, embedding = text }) => [text, vision, embedding])
    .map((id) => ({ id, region: regionOf(upstream) }));

/** Removes duplicates. */
function distinct<T>(values: readonly T[]): T[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

const arnOf = (region: string, account: string, resource: string) =>
  `arn:${Aws.PARTITION}:bedrock:${region}:${account}:${resource}`;

/** The model is given by its id, by the id of a cross-region inference profile, or by an ARN. */
function mayInvoke({ id, region }: Model): PolicyStatementProps[] {
  const [, ofProfile, ofApplication] =
    /^arn:.*:(?:(inference-profile)|(application-inference-profile))\//.exec(id) ?? [];
  if (id.startsWith('arn:')) {
    const modelId = ofApplication ? '*' : id.replace(/^.*\//, '').replace(profile, '');
    return ofProfile || ofApplication ? throughProfile(id, modelId) : [invoking(id)];
  }
  if (!profile.test(id)) return [invoking(arnOf(region, '', `foundation-model/${id}`))];
  return throughProfile(arnOf(region, Aws.ACCOUNT_ID, `inference-profile/${id}`), id.replace(profile, ''));
}

/** https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-prereq.html */
const throughProfile = (arn: string, modelId: string): PolicyStatementProps[] => [
  invoking(arn),
  {
    ...invoking(arnOf('*', '', `foundation-model/${modelId}`)),
    conditions: { StringEquals: { 'bedrock:InferenceProfileArn': arn } },
  },
];

const invoking = (arn: string): PolicyStatementProps => ({
  actions: ['bedrock:InvokeModel', 'bedrock:InvokeModelWithResponseStream'],
  resources: [arn],
});

/** https://docs.aws.amazon.com/service-authorization/latest/reference/list_bedrock-mantle.html */
const mayInfer = (region: string): PolicyStatementProps => ({
  actions: ['bedrock-mantle:CreateInference', 'bedrock-mantle:CountTokens'],
  resources: [`arn:${Aws.PARTITION}:bedrock-mantle:${region}:${Aws.ACCOUNT_ID}:project/default`],
});

/** https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys-permissions.html */
const mayUseToken = (service: string): PolicyStatementProps => ({
  actions: [`${service}:CallWithBearerToken`],
  resources: ['*'],
  conditions: { StringEquals: { [`${service}:BearerTokenType`]: 'SHORT_TERM' } },
});
