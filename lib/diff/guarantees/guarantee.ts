import { serverSettings, settings } from '../../../lambda/settings/table.ts';
import type { Part, Template, Tree } from '../template.ts';

/** One property that a deployed gateway must keep, as its template shows it. */
export interface Guarantee {
  /** The type of the resources that it applies to. */
  readonly of: string;
  /** Where in such a resource. */
  readonly at: string;
  /** What must be true of each value there. With neither this nor `keeps`, no value may change. */
  readonly must?: Must;
  /** What must be true of the values before and after. */
  readonly keeps?: Keeps;
  /** What is true of the resource once the guarantee is lost. */
  readonly otherwise: string;
  /** Never deployed, even with approval. */
  readonly refused?: true;
  /** An operator's setting may break it on purpose. */
  readonly chosen?: true;
}

type Must = (value: unknown, where: Where) => boolean;
type Keeps = (before: unknown, after: unknown, where: Where) => boolean;

export interface Where {
  readonly part: Part;
  readonly template: Template;
}

export const types = {
  table: 'AWS::DynamoDB::GlobalTable',
  secret: 'AWS::SecretsManager::Secret',
  function: 'AWS::Lambda::Function',
  url: 'AWS::Lambda::Url',
  webFunction: 'AWS::Lambda::WebFunction',
  revision: 'AWS::Lambda::WebFunctionRevision',
  endpoint: 'AWS::Lambda::WebFunctionEndpoint',
  bucket: 'AWS::S3::Bucket',
  role: 'AWS::IAM::Role',
  logs: 'AWS::Logs::LogGroup',
  distribution: 'AWS::CloudFront::Distribution',
  alarm: 'AWS::CloudWatch::Alarm',
  schedule: 'AWS::Events::Rule',
  subscription: 'AWS::CloudFront::MonitoringSubscription',
  outputs: 'Outputs',
  stack: 'Stack',
} as const;

/** The behaviors of a distribution. */
export const behaviors = ['DistributionConfig.DefaultCacheBehavior', 'DistributionConfig.CacheBehaviors[]'] as const;

type More = Pick<Guarantee, 'chosen' | 'refused'>;

/** A property of which something must be true, whatever was deployed before. */
export function requires(of: string, at: string, must: Must, otherwise: string, more: More = {}): Guarantee {
  return { of, at, must, otherwise, ...more };
}

/** A property that may change, but not in every way. */
export function keeps(of: string, at: string, rule: Keeps, otherwise: string, more: More = {}): Guarantee {
  return { of, at, keeps: rule, otherwise, ...more };
}

/** A property that may not change at all. */
export function stays(of: string, at: string, otherwise: string, more: More = {}): Guarantee {
  return { of, at, otherwise, ...more };
}

/** A setting of a function, and of a web function's revision. */
export const variable = (name: string): string => `Environment.Variables.${name}`;
export const webVariable = (name: string): string => `ServiceConfig.EnvironmentVariables.${name}`;

/** Where a setting stands in either engine. */
export function placesOf(name: string): readonly (readonly [of: string, at: string])[] {
  return [
    [types.function, variable(name)],
    [types.revision, webVariable(name)],
  ];
}

/** A guarantee about a setting, in either engine. Without a rule it may not change. */
export function told(name: string, otherwise: string, rule?: Keeps): Guarantee[] {
  return placesOf(name).map(([of, at]) => (rule ? keeps(of, at, rule, otherwise) : stays(of, at, otherwise)));
}

/** The same of one that may not change; and a web function must agree with every function beside it that has the setting. */
export function toldAlike(name: string, otherwise: string): Guarantee[] {
  const isAlike: Must = (value, { template }) =>
    Object.values(template.Resources ?? {}).every(({ Properties }) => {
      const other = variablesOf(Properties)[name];
      return other === undefined || JSON.stringify(other) === JSON.stringify(value);
    });
  return [...told(name, otherwise), requires(types.revision, webVariable(name), isAlike, otherwise)];
}

/** All settings of a function or of a revision. */
export function variablesOf({ Environment, ServiceConfig }: Tree = {}): Tree {
  const ofFunction = (Environment as { readonly Variables?: Tree } | undefined)?.Variables;
  const ofRevision = (ServiceConfig as { readonly EnvironmentVariables?: Tree } | undefined)?.EnvironmentVariables;
  return ofFunction ?? ofRevision ?? {};
}

export function is(wanted: unknown): Must {
  return (value) => value === wanted;
}

/** Whether a figure is as it must be, if there is one. */
export function figure(rule: (figure: number) => boolean): Must {
  return (value) => value === undefined || rule(Number(value));
}

/** Zero stops what it limits, and an alarm with it always rings. */
export const unsetOrMore = figure((value) => value > 0);

/** Whether nothing came to have this value. */
export function neverTurns(to: unknown): Keeps {
  return (before, after) => before === to || after !== to;
}

/** Whether nothing lost this value. */
export function keepsTo(wanted: unknown): Keeps {
  return (before, after) => before !== wanted || after === wanted;
}

/** An empty text counts as unset. */
export function isStillThere(before: unknown, after: unknown): boolean {
  return before === undefined || (after !== undefined && after !== '');
}

/** Whether everything in the one list is in the other as well. */
export function holdsAll(before: unknown, after: unknown): boolean {
  const there = listOf(after).map((one) => JSON.stringify(one));
  return listOf(before).every((one) => there.includes(JSON.stringify(one)));
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Tuning stays below this: whatever is further away is another decision, or a slip of the keyboard. */
const far = 10;

type Rule = (before: number, after: number) => boolean;

/** Whether a figure keeps to a rule. One that is missing before or afterwards, without a fallback, has nothing to keep to. */
const obeys =
  (rule: Rule) =>
  (fallback?: unknown): Keeps =>
  (before = fallback, after = fallback) =>
    before === undefined || after === undefined || rule(Number(before), Number(after));

export const risesLittle = obeys((before, after) => after <= before || after < far * before);
const fallsLittle = obeys((before, after) => after >= before || after > before / far);

export const hasRisen = (name: string) => `${name} is ten times as high, or more`;
const hasFallen = (name: string) => `${name} is a tenth of what it was, or less`;

/** Guarantees about figures that are tuned: settings by their names, and properties of resources. */
const tuned = (keep: ReturnType<typeof obeys>, otherwise: (name: string) => string) => ({
  settings: (names: readonly string[]) => names.flatMap((name) => told(name, otherwise(name), keep(fallbackOf(name)))),
  property: (of: string, at: string) => keeps(of, at, keep(), otherwise(`its ${at.split('.').at(-1)}`)),
});

export const rising = tuned(risesLittle, hasRisen);
export const falling = tuned(fallsLittle, hasFallen);

function fallbackOf(name: string): string | undefined {
  const all: Readonly<Record<string, { readonly fallback?: string }>> = { ...settings, ...serverSettings };
  return all[name]?.fallback;
}
