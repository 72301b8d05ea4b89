import { settings, upstreamSettings } from '../../lambda/settings/settings.ts';
import { setByStack } from '../config.ts';
import { variable, webVariable } from './guarantees/guarantee.ts';

const ofNoFunction = new Set([...Object.keys(setByStack), 'NETWORK_SALT', 'UPSTREAM_API_KEYS']);

/** What an operator may set, except what a template must not contain. A guarantee about a setting comes first. */
const operatorSettings = [
  ...Object.keys(settings).filter((name) => !ofNoFunction.has(name)),
  ...Object.keys(upstreamSettings)
    .filter((name) => name !== 'API_KEYS')
    .flatMap((name) => [`UPSTREAM_${name}`, `UPSTREAM_*_${name}`]),
];

/** What may vary freely, by the type of the resource. Other changes that no guarantee covers are for people to judge. */
export const mayVary: Readonly<Record<string, readonly string[]>> = {
  'AWS::DynamoDB::GlobalTable': ['WarmThroughput', 'Replicas[].Tags'],
  'AWS::SecretsManager::Secret': ['Description'],
  'AWS::Lambda::Function': [
    'Code.S3Key',
    'Description',
    'MemorySize',
    'TracingConfig',
    ...[...operatorSettings, 'DEPLOYED_COMMIT'].map(variable),
  ],
  'AWS::Lambda::WebFunctionRevision': [
    'Description',
    'ServiceConfig.MaxConcurrencyPerEnvironment',
    ...[...operatorSettings, 'DEPLOYED_COMMIT', 'BODY_BUDGET', 'SHUTDOWN_GRACE'].map(webVariable),
  ],
  'AWS::Lambda::WebFunctionEndpoint': ['Description'],
  // Which code is copied, and what the copy is called: all that a revision says.
  'Custom::S3ObjectCopy': ['SourceObjectKey', 'ContentHash', 'Configuration'],
  'AWS::Logs::LogGroup': ['RetentionInDays'],
  'AWS::IAM::Role': ['Description'],
  'AWS::IAM::Policy': ['PolicyName'],
  'AWS::CloudWatch::Alarm': ['AlarmDescription', 'OKActions'],
  'AWS::CloudWatch::Dashboard': ['DashboardBody'],
  'AWS::Events::Rule': ['Description'],
  'AWS::CloudFront::Distribution': ['DistributionConfig.Comment'],
  Stack: ['tags'],
  Template: ['Description'],
};

/** For every resource: the order of creation, and the names on the bill. */
export const mayVaryAnywhere: readonly string[] = ['DependsOn', 'Tags'];

/** What may be added: by itself it opens nothing, and its guarantees and permissions are checked as well. */
export const mayBeAdded: ReadonlySet<string> = new Set([
  'AWS::DynamoDB::GlobalTable',
  'AWS::SecretsManager::Secret',
  'AWS::Lambda::Function',
  'AWS::Lambda::WebFunction',
  'AWS::Lambda::WebFunctionRevision',
  'AWS::S3::Bucket',
  'Custom::S3ObjectCopy',
  'AWS::Logs::LogGroup',
  'AWS::IAM::Role',
  'AWS::SNS::Topic',
  'AWS::SNS::Subscription',
  'AWS::CloudWatch::Alarm',
  'AWS::CloudWatch::Dashboard',
  'AWS::Events::Rule',
  'AWS::CloudFront::MonitoringSubscription',
]);
