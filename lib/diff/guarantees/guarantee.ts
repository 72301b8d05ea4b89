import type { Part, Template, Tree } from '../template.ts';

/** One property that a deployed gateway must keep, as its template shows it. */
export interface Guarantee {
  /** The types of resources that it applies to. */
  readonly of: readonly string[];
  /** Where in such a resource. */
  readonly at: string;
  /** What must be true of each value there. With neither this nor `keeps`, no value may change. */
  readonly must?: (value: unknown, where: Where) => boolean;
  /** What must be true of the values before and after. */
  readonly keeps?: (before: unknown, after: unknown, where: Where) => boolean;
  /** What is true of the resource once the guarantee is lost. */
  readonly otherwise: string;
  /** Never deployed, even with approval. */
  readonly refused?: true;
}

export interface Where {
  readonly part: Part;
  readonly template: Template;
}

export const types = {
  table: ['AWS::DynamoDB::GlobalTable'],
  secret: ['AWS::SecretsManager::Secret'],
  data: ['AWS::DynamoDB::GlobalTable', 'AWS::SecretsManager::Secret'],
  function: ['AWS::Lambda::Function'],
  url: ['AWS::Lambda::Url'],
  webFunction: ['AWS::Lambda::WebFunction'],
  revision: ['AWS::Lambda::WebFunctionRevision'],
  endpoint: ['AWS::Lambda::WebFunctionEndpoint'],
  bucket: ['AWS::S3::Bucket'],
  role: ['AWS::IAM::Role'],
  logs: ['AWS::Logs::LogGroup'],
  distribution: ['AWS::CloudFront::Distribution'],
  alarm: ['AWS::CloudWatch::Alarm'],
  schedule: ['AWS::Events::Rule'],
  subscription: ['AWS::CloudFront::MonitoringSubscription'],
  outputs: ['Outputs'],
  stack: ['Stack'],
} as const satisfies Record<string, readonly string[]>;

/** A setting of a function, and of a web function's revision. */
export const variable = (name: string): string => `Environment.Variables.${name}`;
export const webVariable = (name: string): string => `ServiceConfig.EnvironmentVariables.${name}`;

/** A guarantee about a setting, in either engine. */
export function told(name: string, what: Omit<Guarantee, 'of' | 'at'>): Guarantee[] {
  return [
    { ...what, of: types.function, at: variable(name) },
    { ...what, of: types.revision, at: webVariable(name) },
  ];
}

/** The same; and a web function must agree with every function beside it that has the setting. */
export function toldAlike(name: string, what: Pick<Guarantee, 'otherwise'>): Guarantee[] {
  const must: Guarantee['must'] = (value, { template }) =>
    Object.values(template.Resources ?? {}).every(({ Properties }) => {
      const other = variablesOf(Properties)[name];
      return other === undefined || JSON.stringify(other) === JSON.stringify(value);
    });
  return [...told(name, what), { ...what, of: types.revision, at: webVariable(name), must }];
}

/** All settings of a function or of a revision. */
export function variablesOf({ Environment, ServiceConfig }: Tree = {}): Tree {
  const ofFunction = (Environment as { readonly Variables?: Tree } | undefined)?.Variables;
  const ofRevision = (ServiceConfig as { readonly EnvironmentVariables?: Tree } | undefined)?.EnvironmentVariables;
  return ofFunction ?? ofRevision ?? {};
}

export const is =
  (wanted: unknown) =>
  (value: unknown): boolean =>
    value === wanted;

/** Whether everything in the one list is in the other as well. */
export function holdsAll(before: unknown, after: unknown): boolean {
  const there = listOf(after).map((one) => JSON.stringify(one));
  return listOf(before).every((one) => there.includes(JSON.stringify(one)));
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
