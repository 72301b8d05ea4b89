import { createHash } from 'node:crypto';
import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  clockTolerance,
  discovery,
  enableNonRepudiationChecks,
  None,
} from 'openid-client';
import type { Admission, Claims } from './admission.ts';

/** How long the provider's metadata is cached, in milliseconds. Its signing keys are refetched when one is missing. */
const metadataLifetime = 3_600_000;
/** In seconds. */
const [timeout, skew] = [10, 60];

interface Dependencies {
  readonly issuer: string;
  readonly clientId: string;
  readonly readClientSecret: () => Promise<string | undefined>;
  readonly now: () => number;
}

/** Discovers the provider lazily and caches its metadata. If a refresh fails, the stale metadata stays in use. */
export function cacheProvider({ issuer, clientId, readClientSecret, now }: Dependencies) {
  let known:
    | { readonly provider: Configuration; readonly secret: string | undefined; readonly readAt: number }
    | undefined;
  return async (): Promise<Configuration> => {
    const secret = await readClientSecret();
    const old = known?.secret === secret ? known : undefined;
    if (old && now() - old.readAt < metadataLifetime) return old.provider;
    try {
      const server = new URL(issuer);
      const provider = await discovery(server, clientId, { [clockTolerance]: skew }, authenticate(secret), {
        timeout,
        execute: [enableNonRepudiationChecks, ...(server.protocol === 'http:' ? [allowInsecureRequests] : [])],
      });
      known = { provider, secret, readAt: now() };
      return provider;
    } catch (error) {
      if (old) return old.provider;
      throw error;
    }
  };
}

/** Client authentication: `client_secret_basic`, the default of the standard, unless the provider supports only `client_secret_post`. */
function authenticate(secret: string | undefined): Parameters<typeof discovery>[3] {
  if (secret === undefined) return None();
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)];
  return (server, ...rest) => {
    const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = server;
    return (methods.includes('client_secret_basic') ? basic : post)(server, ...rest);
  };
}

/** The standard has no scope for groups, so `groups` is requested only if the provider supports it. */
export function scopesFor(provider: Configuration, { oidcAllowedGroups }: Admission): string {
  const knowsGroups = provider.serverMetadata().scopes_supported?.includes('groups');
  return ['openid', 'email', 'profile', ...(oidcAllowedGroups?.length && knowsGroups ? ['groups'] : [])].join(' ');
}

/** Checks the access token against the id token's `at_hash`: https://openid.net/specs/openid-connect-core-1_0.html#CodeIDToken */
export function checkAccessToken(accessToken: string, { at_hash: expected }: Claims, idToken: string): void {
  if (expected === undefined) return;
  const { alg = '' } = JSON.parse(Buffer.from(idToken.split('.')[0] ?? '', 'base64url').toString()) as { alg?: string };
  const isEdwards = ['Ed25519', 'EdDSA'].includes(alg);
  const digest = createHash(isEdwards ? 'sha512' : `sha${alg.slice(2)}`)
    .update(accessToken)
    .digest();
  if (digest.subarray(0, digest.length / 2).toString('base64url') === expected) return;
  throw new Error('at_hash is not that of the access token');
}

/** Whether the provider did not respond, or responded with a 5xx. */
export function isUnreachable(error: unknown): boolean {
  if (!Error.isError(error)) return false;
  if (error.name === 'TimeoutError' || error.message === 'fetch failed') return true;
  const { code, cause, status } = error as Error & { code?: unknown; status?: unknown };
  if (code === 'OAUTH_TIMEOUT' || (typeof status === 'number' && status >= 500)) return true;
  return (cause instanceof Response && cause.status >= 500) || isUnreachable(cause);
}
