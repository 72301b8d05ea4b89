import { settings } from '../../lambda/settings/definitions.ts';
import { upstreamSettings } from '../../lambda/settings/upstream-definitions.ts';
import { setByStack } from '../config.ts';
import { variable, webVariable } from './guarantees/guarantee.ts';

/* What may change without approval, as long as no guarantee is broken. */

/** Resources that may be added. By themselves they open nothing, and their guarantees and permissions are checked as well. */
export const mayBeAdded =
  /^(AWS::(DynamoDB::GlobalTable|SecretsManager::Secret|Lambda::(Function|WebFunction|WebFunctionRevision)|S3::Bucket|Logs::LogGroup|IAM::Role|SNS::(Topic|Subscription)|CloudWatch::(Alarm|Dashboard)|Events::Rule|CloudFront::MonitoringSubscription)|Custom::S3ObjectCopy)$/;

/**
 * Resources that may be replaced: policies, which are compared as permissions; alarms, which lose only their history; and
 * revisions, which are immutable, with their copy of the code. A new revision keeps the address.
 */
export const mayBeReplaced =
  /^(AWS::(IAM::Policy|Lambda::Permission|SNS::TopicPolicy|S3::BucketPolicy|CloudWatch::\w+|Lambda::WebFunctionRevision)|Custom::S3ObjectCopy)$/;

/** The operator's settings, except those that must not be in a template. Guarantees about settings come first. */
const operatorSettings = [
  ...Object.keys(settings).filter((name) => !Object.hasOwn(setByStack, name)),
  ...Object.keys(upstreamSettings).flatMap((name) => [`UPSTREAM_${name}`, `UPSTREAM_*_${name}`]),
  // What the stack makes of them, or of the code.
  ...['NOT_OFFERED', 'DEPLOYED_COMMIT'],
].filter((name) => !/^NETWORK_SALT$|_API_KEYS$/.test(name));

/** Values that may change freely, by resource type. Any other change that no guarantee covers needs a reviewer. */
export const mayVary: Readonly<Record<string, readonly string[]>> = {
  'AWS::DynamoDB::GlobalTable': ['WarmThroughput', 'Replicas[].Tags'],
  'AWS::SecretsManager::Secret': ['Description'],
  'AWS::Lambda::Function': [
    'Code.S3Key',
    'Description',
    'MemorySize',
    'TracingConfig',
    ...operatorSettings.map(variable),
  ],
  'AWS::Lambda::WebFunctionRevision': ['Description', ...[...operatorSettings, 'BODY_BUDGET'].map(webVariable)],
  'AWS::Lambda::WebFunctionEndpoint': ['Description'],
  // Which code is copied, and the name of the copy: a revision has nothing else.
  'Custom::S3ObjectCopy': ['SourceObjectKey', 'ContentHash', 'Configuration'],
  'AWS::IAM::Role': ['Description'],
  'AWS::IAM::Policy': ['PolicyName'],
  'AWS::CloudWatch::Alarm': ['AlarmDescription', 'OKActions'],
  'AWS::CloudWatch::Dashboard': ['DashboardBody', 'DashboardName'],
  'AWS::Events::Rule': ['Description'],
  'AWS::CloudFront::Distribution': ['DistributionConfig.Comment'],
  Stack: ['tags'],
  Template: ['Description'],
};

/** On any resource: the order of creation, and cost-allocation tags. */
export const mayVaryAnywhere: readonly string[] = ['DependsOn', 'Tags'];
