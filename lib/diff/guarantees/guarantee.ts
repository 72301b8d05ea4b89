import { serverSettings, settings } from '../../../lambda/settings/definitions.ts';
import type { Part, Template, Tree } from '../template.ts';

/** A property that a deployed gateway must keep, as its template shows it. */
export interface Guarantee {
  /** The resource type that it applies to. */
  readonly of: string;
  /** The path in such a resource. */
  readonly at: string;
  /** What must hold for each value there, whatever was deployed before, */
  readonly must?: Must;
  /** or between the values before and after. */
  readonly keeps?: Keeps;
  /** What is true of the resource once the guarantee is broken. */
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

/** A condition on a value, whatever was deployed before. */
export function requires(of: string, at: string, must: Must, otherwise: string, more: More = {}): Guarantee {
  return { of, at, must, otherwise, ...more };
}

/** A value that must not change, or only as the rule allows. */
export function keeps(of: string, at: string, otherwise: string, rule: Keeps = isSame, more: More = {}): Guarantee {
  return { of, at, keeps: rule, otherwise, ...more };
}

/** The path of a setting in a function, and in a web function's revision. */
export const variable = (name: string): string => `Environment.Variables.${name}`;
export const webVariable = (name: string): string => `ServiceConfig.EnvironmentVariables.${name}`;

/** The same as `keeps`, for a setting in either engine. */
export function told(name: string, otherwise: string, rule?: Keeps): Guarantee[] {
  return [
    keeps(types.function, variable(name), otherwise, rule),
    keeps(types.revision, webVariable(name), otherwise, rule),
  ];
}

/** A setting that must not change, and that must be the same in a web function and every function beside it that has it. */
export function toldAlike(name: string, otherwise: string): Guarantee[] {
  const isAlike: Must = (value, { template }) =>
    Object.values(template.Resources ?? {}).every(({ Properties }) =>
      isSame(variablesOf(Properties)[name] ?? value, value),
    );
  return [...told(name, otherwise), requires(types.revision, webVariable(name), isAlike, otherwise)];
}

/** All settings of a function or a revision. */
export function variablesOf({ Environment, ServiceConfig }: Tree = {}): Tree {
  const functionVariables = (Environment as { readonly Variables?: Tree } | undefined)?.Variables;
  const revisionVariables = (ServiceConfig as { readonly EnvironmentVariables?: Tree } | undefined)
    ?.EnvironmentVariables;
  return functionVariables ?? revisionVariables ?? {};
}

export function is(wanted: unknown): Must {
  return (value) => value === wanted;
}

/** A condition on a number, if it is set. */
export function figure(rule: (figure: number) => boolean): Must {
  return (value) => value === undefined || rule(Number(value));
}

/** A limit of zero blocks everything, and an alarm with it always rings. */
export const unsetOrMore = figure((value) => value > 0);

function isSame(before: unknown, after: unknown): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
}

/** Nothing may change to this value. */
export function neverTurns(to: unknown): Keeps {
  return (before, after) => before === to || after !== to;
}

/** Nothing may change from this value. */
export function keepsTo(wanted: unknown): Keeps {
  return (before, after) => before !== wanted || after === wanted;
}

/** What was set must still be set. An empty string counts as unset. */
export function isStillThere(before: unknown, after: unknown): boolean {
  return before === undefined || (after !== undefined && after !== '');
}

export function isUnsetOrSame(before: unknown, after: unknown): boolean {
  return before === undefined || isSame(before, after);
}

/** The list may grow, but not lose an element. */
export function holdsAll(before: unknown, after: unknown): boolean {
  const there = listOf(after).map((one) => JSON.stringify(one));
  return listOf(before).every((one) => there.includes(JSON.stringify(one)));
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A change by less than this factor is tuning. Anything larger is a new decision, or a typo. */
const far = 10;

/** Whether a number changed by less than the factor. Passes if it is unset before or after, and has no default. */
export const tuned =
  (fallback?: unknown): Keeps =>
  (before = fallback, after = fallback) => {
    if (before === undefined || after === undefined) return true;
    const [old, current] = [Number(before), Number(after)];
    return old === current || (current < far * old && current > old / far);
  };

/** The same for settings, by name. */
export function tunedSettings(names: readonly string[]): Guarantee[] {
  const all: Readonly<Record<string, { readonly fallback?: string }>> = { ...settings, ...serverSettings };
  return names.flatMap((name) => told(name, isFarFrom(name), tuned(all[name]?.fallback)));
}

export const isFarFrom = (name: string) => `${name} is ten times as high or more, or a tenth or less`;
