import type { Part, Template } from '../template.ts';

/** One thing that a deployed gateway must keep, as a template says it. */
export interface Guarantee {
  /** The types of resources that say it. */
  readonly of: readonly string[];
  /** Where in such a resource. */
  readonly at: string;
  /** What must be so of each value there. Where neither this nor `keeps` says anything, all must stay as it is. */
  readonly must?: (value: unknown, where: Where) => boolean;
  /** What must be so of the values before and after. */
  readonly keeps?: (before: unknown, after: unknown, where: Where) => boolean;
  /** What is so of the resource where it is lost. */
  readonly otherwise: string;
  /** Never deployed, whoever agrees to it. */
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
  role: ['AWS::IAM::Role'],
  distribution: ['AWS::CloudFront::Distribution'],
  alarm: ['AWS::CloudWatch::Alarm'],
  outputs: ['Outputs'],
  stack: ['Stack'],
} as const satisfies Record<string, readonly string[]>;

/** A setting of a function. */
export const variable = (name: string): string => `Environment.Variables.${name}`;

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
