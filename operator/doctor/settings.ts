import { hiddenNames } from '../../lambda/upstream/names.ts';
import { readDeploymentConfig } from '../../lib/config.ts';

/** What the operator has said of a gateway in its settings. */
export interface KnownSettings {
  /** What must not appear. */
  readonly names: readonly string[];
  /** The dialects that some upstream does not speak. */
  readonly translated: readonly string[];
  /** Whether only keys are served. */
  readonly closed: boolean;
  /** The limits that its answers may state. */
  readonly limits?: { readonly member: number; readonly guest: number };
  /** Where the pages are, and where people sign in with a company account. */
  readonly appUrl?: string | undefined;
  readonly oidcIssuer?: string | undefined;
}

export const nothingKnown: KnownSettings = { names: [], translated: [], closed: false };

/** The settings of a stage of the `gateway` block of cdk.json. */
export function readStage(block: unknown, stage: string): KnownSettings {
  const { settings } = readDeploymentConfig(block, stage);
  const { upstreams, upstreamNames, access, memberLimit, guestLimit, appUrl, oidcIssuer } = settings;
  return {
    names: hiddenNames(upstreams, upstreamNames),
    translated: upstreams.flatMap(({ addresses, dialects }) =>
      Object.keys(addresses).filter((name) => !dialects.some((spoken) => spoken === name)),
    ),
    closed: access === 'keys',
    limits: { member: memberLimit, guest: guestLimit },
    ...{ appUrl, oidcIssuer },
  };
}
