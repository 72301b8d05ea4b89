import { settings, upstreamSettings } from '../../lambda/settings/settings.ts';
import { setByStack } from '../config.ts';
import { variable, webVariable } from './guarantees/guarantee.ts';

const ofNoFunction = new Set([...Object.keys(setByStack), 'NETWORK_SALT', 'UPSTREAM_API_KEYS']);

/** What an operator sets, but for what a template must not hold; where a guarantee speaks of a setting, that comes first. */
const operatorSettings = [
  ...Object.keys(settings).filter((name) => !ofNoFunction.has(name)),
  ...Object.keys(upstreamSettings)
    .filter((name) => name !== 'API_KEYS')
    .flatMap((name) => [`UPSTREAM_${name}`, `UPSTREAM_*_${name}`]),
];

/** What may vary freely, by the type of the resource. A change of anything else, of which no guarantee speaks, is for people to judge. */
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
  // Which code is copied, and what makes the name of the copy: all that a revision says.
  'Custom::S3ObjectCopy': ['SourceObjectKey', 'ContentHash', 'Configuration'],
  'AWS::Logs::LogGroup': ['RetentionInDays'],
  'AWS::IAM::Role': ['Description'],
  'AWS::IAM::Policy': ['PolicyName'],
  'AWS::CloudWatch::Alarm': ['AlarmDescription', 'OKActions'],
  'AWS::CloudWatch::Dashboard': ['DashboardBody'],
  'AWS::CloudFront::Distribution': ['DistributionConfig.Comment'],
  Stack: ['tags'],
  Template: ['Description'],
};

/** Of every resource: the order in which things are made, and what they are called on the bill. */
export const mayVaryAnywhere: readonly string[] = ['DependsOn', 'Tags'];

/** What may be added: by itself it opens nothing, and guarantees and permissions are checked for it as well. */
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
]);
