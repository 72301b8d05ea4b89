import type { Comparison } from './changes.ts';
import { types, variablesOf } from './guarantees/guarantee.ts';
import type { Resource, Template } from './template.ts';

/** A setting with many consequences, which the gate reports on one line. */
export interface Decision {
  readonly setting: string;
  /** What the change means, which starts the line. */
  readonly meaning: string;
  /** Whether a finding follows from this decision, by its subject (a part, a path in one, or a permission) and its stack. */
  readonly covers: (subject: string, stack: string) => boolean;
}

interface Kind extends Pick<Decision, 'setting' | 'covers'> {
  /** What the change means, or undefined if both templates have the same. */
  readonly read: (before: Template, after: Template) => string | undefined;
}

const kinds: readonly Kind[] = [
  {
    setting: 'edge',
    read: turned(({ Type }) => Type === types.distribution, {
      on: 'clients and pages move to the address of CloudFront, which says who calls',
      off: 'clients and pages move from the address of CloudFront to one of AWS Lambda',
    }),
    covers: (subject, stack) =>
      /\bEdge\b|\bEDGE_|\b(GATEWAY|APP)_URL$|^the outputs (\w+Url|Edge\*)$/.test(subject) ||
      stack.endsWith('-edge-alarms'),
  },
  {
    setting: 'canary',
    read: turned(({ Properties }) => variablesOf(Properties).CANARY_URL !== undefined, {
      on: 'a canary calls the gateway every few minutes',
      off: 'no canary calls the gateway any more',
    }),
    covers: (subject) => /\bCanary(Failing)?\b/.test(subject),
  },
  {
    setting: 'tracing',
    read: turned(({ Properties }) => Properties?.TracingConfig !== undefined, {
      on: 'functions send traces to X-Ray',
      off: 'functions no longer send traces to X-Ray',
    }),
    covers: (subject) => / may xray:/.test(subject),
  },
  {
    setting: 'OIDC_ISSUER',
    read: turned(({ Properties }) => variablesOf(Properties).OIDC_ISSUER !== undefined, {
      on: 'people get keys by signing in with an account of the company',
      off: 'nobody gets a key with an account of the company any more',
    }),
    covers: (subject) =>
      /\bOIDC_|\bAPP_URL$|\bSecrets\/OidcClient$|^Alarms\/SignInsFailing$|^the outputs ((App|Wallet)Url|Oidc\*)$/.test(
        subject,
      ),
  },
  {
    setting: 'UPSTREAM_AUTH',
    read: turned(({ Properties }) => variablesOf(Properties).UPSTREAM_AUTH === 'aws', {
      on: 'the upstream is Amazon Bedrock, which the function calls by its own role',
      off: 'the upstream takes keys, and no longer the function’s own role',
    }),
    covers: (subject) =>
      / may bedrock(-mantle)?:|\bUPSTREAM[*\w]*_(BASE_URL|SECRET_ID)$|\bSecrets\/Upstream\b|^the outputs UpstreamSecret$/.test(
        subject,
      ),
  },
  {
    setting: 'UPSTREAM_…_MODEL',
    read: (before, after) => {
      const [old, current] = [modelsOf(before), modelsOf(after)];
      const changed = Object.keys({ ...old, ...current }).filter((name) => old[name] !== current[name]);
      if (changed.length === 0) return undefined;
      return changed.map((name) => `${name} is ${current[name] ?? 'unset'}, was ${old[name] ?? 'unset'}`).join(', ');
    },
    covers: (subject) => / may bedrock(-mantle)?:/.test(subject),
  },
  {
    setting: 'ACCESS',
    read: (before, after) => {
      const [old, current] = [before, after].map(accessOf);
      return old === undefined || current === undefined || old === current ? undefined : `is ${current}, was ${old}`;
    },
    covers: (subject) => /\.ACCESS$|^Wallet\/Role may dynamodb:/.test(subject),
  },
];

/** Reads whether a matching resource was added or removed. */
function turned(isThere: (resource: Resource) => boolean, meanings: { readonly on: string; readonly off: string }) {
  const isIn = ({ Resources = {} }: Template) => Object.values(Resources).some(isThere);
  return (before: Template, after: Template): string | undefined => {
    if (isIn(before) === isIn(after)) return undefined;
    return isIn(after) ? `is turned on: ${meanings.on}` : `is turned off: ${meanings.off}`;
  };
}

/** The models of all upstreams, by setting name. */
function modelsOf({ Resources = {} }: Template): Readonly<Record<string, unknown>> {
  const variables = Object.values(Resources).flatMap(({ Properties }) => Object.entries(variablesOf(Properties)));
  return Object.fromEntries(variables.filter(([name]) => /^UPSTREAM_\w+_MODEL$/.test(name)));
}

function accessOf({ Resources = {} }: Template): unknown {
  return Object.values(Resources)
    .map(({ Properties }) => variablesOf(Properties).ACCESS)
    .find((access) => access !== undefined);
}

/** The decisions that differ in a deployment of one or more stacks. */
export const findDecisions = (comparisons: readonly Comparison[]): readonly Decision[] =>
  kinds.flatMap(({ read, ...kind }) => {
    const meaning = comparisons.map(({ before, after }) => read(before, after)).find((one) => one !== undefined);
    return meaning === undefined ? [] : [{ ...kind, meaning }];
  });
