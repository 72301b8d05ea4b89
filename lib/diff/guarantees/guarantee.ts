import { serverSettings, settings } from '../../../lambda/settings/definitions.ts';
import type { Part, Template, Tree } from '../template.ts';

/** One property that a deployed gateway must keep, as its template shows it. */
export interface Guarantee {
  /** The type of the resources that it applies to. */
  readonly of: string;
  /** Where in such a resource. */
  readonly at: string;
  /** What must be true of each value there, whatever was deployed before; */
  readonly must?: Must;
  /** or what must be true of the values before and after. */
  readonly keeps?: Keeps;
  /** What is true of the resource once the guarantee is lost. */
  readonly otherwise: string;
  /** Never deployed, even with approval. */
  readonly refused?: boolean;
  /** An operator's setting may break it on purpose. */
  readonly chosen?: boolean;
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

type More = Pick<Guarantee, 'chosen' | 'refused'>;

/** A property of which something must be true, whatever was deployed before. */
export function requires(of: string, at: string, must: Must, otherwise: string, more: More = {}): Guarantee {
  return { of, at, must, otherwise, ...more };
}

/** A property that may not change, or by a rule not in every way. */
export function keeps(of: string, at: string, otherwise: string, rule: Keeps = isSame, more: More = {}): Guarantee {
  return { of, at, keeps: rule, otherwise, ...more };
}

/** A setting of a function, and of a web function's revision. */
export const variable = (name: string): string => `Environment.Variables.${name}`;
export const webVariable = (name: string): string => `ServiceConfig.EnvironmentVariables.${name}`;

/** The same of a setting, in either engine. */
export function told(name: string, otherwise: string, rule?: Keeps): Guarantee[] {
  return [
    keeps(types.function, variable(name), otherwise, rule),
    keeps(types.revision, webVariable(name), otherwise, rule),
  ];
}

/** The same of one that may not change; and a web function must agree with every function beside it that has the setting. */
export function toldAlike(name: string, otherwise: string): Guarantee[] {
  const isAlike: Must = (value, { template }) =>
    Object.values(template.Resources ?? {}).every(({ Properties }) =>
      isSame(variablesOf(Properties)[name] ?? value, value),
    );
  return [...told(name, otherwise), requires(types.revision, webVariable(name), isAlike, otherwise)];
}

/** All settings of a function or of a revision. */
export function variablesOf({ Environment, ServiceConfig }: Tree = {}): Tree {
  const functionVariables = (Environment as { readonly Variables?: Tree } | undefined)?.Variables;
  const revisionVariables = (ServiceConfig as { readonly EnvironmentVariables?: Tree } | undefined)
    ?.EnvironmentVariables;
  return functionVariables ?? revisionVariables ?? {};
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

function isSame(before: unknown, after: unknown): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
}

/** Whether nothing came to have this value. */
export function neverTurns(to: unknown): Keeps {
  return (before, after) => before === to || after !== to;
}

/** Whether nothing lost this value. */
export function keepsTo(wanted: unknown): Keeps {
  return (before, after) => before !== wanted || after === wanted;
}

/** Whether nothing lost what it had. An empty text counts as unset. */
export function isStillThere(before: unknown, after: unknown): boolean {
  return before === undefined || (after !== undefined && after !== '');
}

export function isUnsetOrSame(before: unknown, after: unknown): boolean {
  return before === undefined || isSame(before, after);
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

/** Whether a figure is no more than tuned. One that is missing before or afterwards, without a fallback, has no say. */
export const tuned =
  (fallback?: unknown): Keeps =>
  (before = fallback, after = fallback) => {
    if (before === undefined || after === undefined) return true;
    const [old, current] = [Number(before), Number(after)];
    return old === current || (current < far * old && current > old / far);
  };

/** The same of settings, by their names. */
export function tunedSettings(names: readonly string[]): Guarantee[] {
  const all: Readonly<Record<string, { readonly fallback?: string }>> = { ...settings, ...serverSettings };
  return names.flatMap((name) => told(name, isFarFrom(name), tuned(all[name]?.fallback)));
}

export const isFarFrom = (name: string) => `${name} is ten times as high or more, or a tenth or less`;
