import type { GatewayError } from '../errors.ts';
import type { AccountsConfig } from '../settings/config.ts';
import { accountsError } from './page-errors.ts';

export type Claims = Readonly<Record<string, unknown>> & { readonly sub: string };

/** The allow-lists for OIDC accounts. If both are empty, everyone with an account may sign in. */
export type Admission = Pick<
  AccountsConfig['accounts'],
  'oidcAllowedDomains' | 'oidcAllowedGroups' | 'oidcGroupsClaim'
>;

/** The claims that the allow-lists are checked against. */
export const neededClaims = ({ oidcAllowedDomains, oidcAllowedGroups, oidcGroupsClaim }: Admission): string[] => [
  ...(oidcAllowedDomains?.length ? ['email', 'email_verified'] : []),
  ...(oidcAllowedGroups?.length ? [oidcGroupsClaim] : []),
];

/** Throws unless the claims satisfy every allow-list that is set. */
export function requireAllowed(claims: Claims, settings: Admission): void {
  const { oidcAllowedDomains: domains = [], oidcAllowedGroups: groups = [], oidcGroupsClaim } = settings;
  if (domains.length > 0) {
    const domain = /^[^@]+@([^@]+)$/.exec(textOf(claims.email) ?? '')?.[1]?.toLowerCase();
    const isVerified = claims.email_verified === true;
    if (!isVerified || !domains.some((allowed) => allowed.toLowerCase() === domain)) {
      const verified =
        isVerified || domain === undefined ? '' : ' The provider does not say that your address is verified.';
      throw notAllowed(`an e-mail address at ${domains.join(' or ')} is needed.${verified}`);
    }
  }
  if (groups.length > 0) {
    const own = claims[oidcGroupsClaim];
    if (own === undefined && isTooLarge(claims, oidcGroupsClaim)) {
      throw notAllowed(
        'you are in too many groups for the provider to list. Its administrator has to send only those of this app.',
      );
    }
    const list: unknown[] = Array.isArray(own) ? own : [own];
    if (!groups.some((group) => list.includes(group)))
      throw notAllowed('you are in none of the groups that it lets in.');
  }
}

/** Microsoft's "groups overage", a list too long for the token: https://learn.microsoft.com/entra/identity-platform/id-token-claims-reference */
function isTooLarge({ hasgroups, _claim_names: names }: Claims, claim: string): boolean {
  return hasgroups === true || (typeof names === 'object' && names !== null && claim in names);
}

function notAllowed(why: string): GatewayError {
  const message = `You are signed in with your company, but this gateway does not let you in: ${why}`;
  return accountsError('not_allowed', message);
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
