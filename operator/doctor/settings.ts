import { dialectNames } from '../../lambda/dialects/names.ts';
import { hiddenNames } from '../../lambda/hiding/hidden-names.ts';
import { warnOfNamesInCode } from '../../lambda/hiding/names-in-code.ts';
import type { Upstream } from '../../lambda/settings/read-upstreams.ts';
import { readDeploymentConfig } from '../../lib/config.ts';

/** What the doctor reads from a gateway's settings. */
export interface KnownSettings {
  /** The names to hide. */
  readonly names: readonly string[];
  /** Whether names may appear in what the model writes. */
  readonly hideInText?: 'names' | 'none';
  /** Warnings about hidden names that occur in code. */
  readonly spoilsCode?: readonly string[];
  /** The dialects that at least one upstream does not speak. */
  readonly translated: readonly string[];
  /** The upstreams with `UPSTREAM_AUTH=aws`. */
  readonly bedrock?: readonly Upstream[];
  /** Whether every request needs a key. */
  readonly closed: boolean;
  /** The limits that its answers may state. */
  readonly limits?: { readonly member: number; readonly guest: number };
  /** Where the pages are, and where people sign in with a company account. */
  readonly appUrl?: string | undefined;
  readonly oidcIssuer?: string | undefined;
}

export const nothingKnown: KnownSettings = { names: [], translated: [], closed: false };

/** Reads a stage's settings from cdk.json and the operator's own file. */
export function readStage(block: unknown, stage: string, own?: unknown, region?: string): KnownSettings {
  const { settings } = readDeploymentConfig(block, stage, own, region);
  const { accounts, quota, upstreams, hiding } = settings;
  return {
    names: hiddenNames(upstreams.all, hiding.upstreamNames),
    hideInText: hiding.hideInText,
    spoilsCode: warnOfNamesInCode(upstreams.all, hiding),
    translated: upstreams.all.flatMap(({ dialects }) => dialectNames.filter((name) => !dialects.includes(name))),
    bedrock: upstreams.all.filter(({ tokenRegion }) => tokenRegion !== undefined),
    closed: accounts.access === 'keys',
    limits: { member: quota.memberLimit, guest: quota.guestLimit },
    appUrl: accounts.appUrl,
    oidcIssuer: accounts.oidcIssuer,
  };
}
