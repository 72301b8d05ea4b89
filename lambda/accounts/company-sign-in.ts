import { createHash, type KeyObject } from 'node:crypto';
import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  clockTolerance,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  ResponseBodyError,
} from 'openid-client';
import { GatewayError } from '../errors.ts';
import { accountLabel, accountMember } from '../identity/identify.ts';
import { AccountsError, brokenSignIn, pagePath } from './request.ts';

/** Who signed in at the company's provider. Name and address are shown while the page is open, and stored nowhere. */
interface Person {
  readonly member: string;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
}

/** What the page made for one sign-in, and keeps in its tab meanwhile. */
interface SignInState {
  readonly state: string;
  readonly nonce: string;
}

interface Verifiable extends SignInState {
  readonly verifier: string;
}

export type CompanySignIn = ReturnType<typeof createCompanySignIn>;

interface CompanySettings {
  readonly oidcIssuer: string | undefined;
  readonly oidcClientId: string | undefined;
  readonly oidcAllowedDomains: readonly string[] | undefined;
  readonly oidcAllowedGroups: readonly string[] | undefined;
  readonly oidcGroupsClaim: string;
}

interface Dependencies extends CompanySettings {
  readonly appUrl: string | undefined;
  readonly clientSecret: () => Promise<string | undefined>;
  readonly subkey: (label: string) => Promise<KeyObject>;
  readonly now: () => number;
}

/** How long the provider's own description is good, in milliseconds. Its keys are read anew when one is missing. */
const describedFor = 3_600_000;
/** Seconds that a request to the provider may take, and that clocks may differ by. */
const [patience, skew] = [10, 60];

/** Signs in with OpenID Connect: authorization code with PKCE, state and nonce. */
export function createCompanySignIn(dependencies: Dependencies) {
  const { oidcIssuer = '', appUrl, subkey } = dependencies;
  const callbackUrl = `${appUrl}${callbackPath}`;
  const findProvider = rememberProvider(dependencies);

  return {
    /** Where the browser goes to sign in. */
    async begin({ state, nonce, challenge }: SignInState & { readonly challenge: string }): Promise<string> {
      const provider = await findProvider().catch(explain);
      const url = buildAuthorizationUrl(provider, {
        ...{ redirect_uri: callbackUrl, scope: scopesFor(provider, dependencies), state, nonce },
        ...{ code_challenge: challenge, code_challenge_method: 'S256' },
      });
      return url.href;
    },

    /** Who has signed in, by the address that the provider sent the browser back to. Throws unless they may come in. */
    async redeem(answer: URLSearchParams, made: Verifiable): Promise<Person> {
      const claims = await readClaims(answer, made).catch(explain);
      requireAllowed(claims, dependencies);
      const member = accountMember(await subkey(accountLabel), oidcIssuer, claims.sub);
      return { member, name: textOf(claims.name), email: textOf(claims.email) };
    },
  };

  async function readClaims(answer: URLSearchParams, { state, nonce, verifier }: Verifiable) {
    const provider = await findProvider();
    const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier };
    const tokens = await authorizationCodeGrant(provider, new URL(`${callbackUrl}?${answer}`), checks);
    const claims: Claims | undefined = tokens.claims();
    if (!claims) throw new Error('the provider sent no id token');
    checkAccessToken(tokens.access_token, claims, tokens.id_token ?? '');
    // Some providers put these only where the access token leads to.
    const lacks = wantedClaims(dependencies).some((name) => claims[name] === undefined);
    if (!lacks || !provider.serverMetadata().userinfo_endpoint) return claims;
    return { ...(await fetchUserInfo(provider, tokens.access_token, claims.sub)), ...claims };
  }
}

/** Where the provider sends the browser back to, below the app's address. */
const callbackPath = `${pagePath}/oidc/callback`;

type Claims = Readonly<Record<string, unknown>> & { readonly sub: string };

/** Reads the provider's description when it is needed, and keeps it for a while; an old one is better than none. */
function rememberProvider({
  oidcIssuer = '',
  oidcClientId = '',
  clientSecret,
  now,
}: Dependencies): () => Promise<Configuration> {
  let known:
    | { readonly provider: Configuration; readonly secret: string | undefined; readonly readAt: number }
    | undefined;
  return async () => {
    const secret = await clientSecret();
    if (known && known.secret === secret && now() - known.readAt < describedFor) return known.provider;
    try {
      const issuer = new URL(oidcIssuer);
      const provider = await discovery(issuer, oidcClientId, { [clockTolerance]: skew }, authenticate(secret), {
        timeout: patience,
        execute: [enableNonRepudiationChecks, ...(issuer.protocol === 'http:' ? [allowInsecureRequests] : [])],
      });
      known = { provider, secret, readAt: now() };
      return provider;
    } catch (error) {
      if (known && known.secret === secret) return known.provider;
      throw error;
    }
  };
}

/** By the method that the provider names: the standard's own one unless it takes only the other. */
function authenticate(secret: string | undefined): Parameters<typeof discovery>[3] {
  if (secret === undefined) return None();
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)];
  return (server, ...rest) => {
    const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = server;
    return (methods.includes('client_secret_basic') ? basic : post)(server, ...rest);
  };
}

const wantedClaims = ({ oidcAllowedDomains, oidcAllowedGroups, oidcGroupsClaim }: CompanySettings): string[] => [
  ...(oidcAllowedDomains?.length ? ['email', 'email_verified'] : ['email']),
  ...(oidcAllowedGroups?.length ? [oidcGroupsClaim] : []),
];

/** Groups have no scope of their own in the standard: it is asked for only where the provider knows it. */
function scopesFor(provider: Configuration, { oidcAllowedGroups }: CompanySettings): string {
  const knowsGroups = provider.serverMetadata().scopes_supported?.includes('groups');
  return ['openid', 'email', 'profile', ...(oidcAllowedGroups?.length && knowsGroups ? ['groups'] : [])].join(' ');
}

/** The id token names the access token that came with it: https://openid.net/specs/openid-connect-core-1_0.html#CodeIDToken */
function checkAccessToken(accessToken: string, { at_hash: expected }: Claims, idToken: string): void {
  if (expected === undefined) return;
  const { alg = '' } = JSON.parse(Buffer.from(idToken.split('.')[0] ?? '', 'base64url').toString()) as { alg?: string };
  const digest = createHash(alg === 'EdDSA' ? 'sha512' : `sha${alg.slice(2)}`)
    .update(accessToken)
    .digest();
  if (digest.subarray(0, digest.length / 2).toString('base64url') === expected) return;
  throw new Error('at_hash is not that of the access token');
}

/** Throws unless every restriction that is set holds. */
export function requireAllowed(claims: Claims, settings: Omit<CompanySettings, 'oidcIssuer' | 'oidcClientId'>): void {
  const { oidcAllowedDomains: domains = [], oidcAllowedGroups: groups = [], oidcGroupsClaim } = settings;
  if (domains.length > 0) {
    const domain = /@([^@]+)$/.exec(textOf(claims.email) ?? '')?.[1]?.toLowerCase();
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

/** A list that does not fit into the token: https://learn.microsoft.com/entra/identity-platform/id-token-claims-reference */
function isTooLarge({ hasgroups, _claim_names: names }: Claims, claim: string): boolean {
  return hasgroups === true || (typeof names === 'object' && names !== null && claim in names);
}

function notAllowed(why: string): AccountsError {
  return new AccountsError(
    'not_allowed',
    `You are signed in with your company, but this gateway does not let you in: ${why}`,
  );
}

const startAgain = 'Please start again.';

/** What a person reads when signing in has failed. What the provider says goes to the log only. */
function explain(cause: unknown): never {
  if (cause instanceof GatewayError) throw cause;
  if (cause instanceof AuthorizationResponseError && cause.error === 'access_denied') {
    throw new AccountsError(
      'invalid_sign_in',
      `You were not signed in: this was declined on your company’s page. ${startAgain}`,
    );
  }
  if (cause instanceof ResponseBodyError && cause.error === 'invalid_grant') {
    throw new AccountsError('invalid_sign_in', `That sign-in has expired or was used before. ${startAgain}`, { cause });
  }
  if (isUnreachable(cause)) {
    const message = 'Your company’s sign-in can’t be reached right now. Please try again in a moment.';
    throw new GatewayError('service_unavailable', message, { cause, reason: brokenSignIn });
  }
  const message = `Your company’s sign-in sent an answer that can’t be trusted, so nobody was signed in. ${startAgain}`;
  throw new AccountsError('invalid_sign_in', message, { cause, reason: brokenSignIn });
}

/** No answer, or one that says that the provider is in trouble. */
function isUnreachable(error: unknown): boolean {
  if (!Error.isError(error)) return false;
  if (error.name === 'TimeoutError' || error.message === 'fetch failed') return true;
  const { code, cause, status } = error as Error & { code?: unknown; status?: unknown };
  if (code === 'OAUTH_TIMEOUT' || (typeof status === 'number' && status >= 500)) return true;
  return (cause instanceof Response && cause.status >= 500) || isUnreachable(cause);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
