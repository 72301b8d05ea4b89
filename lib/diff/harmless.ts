import { settings, upstreamSettings } from '../../lambda/settings/settings.ts';
import { setByStack } from '../config.ts';
import { variable, webVariable } from './guarantees/guarantee.ts';

const ofNoFunction = new Set([...Object.keys(setByStack), 'NETWORK_SALT', 'UPSTREAM_API_KEYS']);

/** The settings that an operator may change, except those that a template must not contain. Guarantees about settings come first. */
const operatorSettings = [
  ...Object.keys(settings).filter((name) => !ofNoFunction.has(name)),
  ...Object.keys(upstreamSettings)
    .filter((name) => name !== 'API_KEYS')
    .flatMap((name) => [`UPSTREAM_${name}`, `UPSTREAM_*_${name}`]),
];

/** Values that may change freely, by the type of the resource. People judge other changes that no guarantee covers. */
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
  'AWS::CloudWatch::Dashboard': ['DashboardBody', 'DashboardName'],
  'AWS::Events::Rule': ['Description'],
  'AWS::CloudFront::Distribution': ['DistributionConfig.Comment'],
  Stack: ['tags'],
  Template: ['Description'],
};

/** On every resource: the order of creation, and the names on the bill. */
export const mayVaryAnywhere: readonly string[] = ['DependsOn', 'Tags'];

/** Resources that may be added: they open nothing by themselves, and their guarantees and permissions are checked too. */
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
