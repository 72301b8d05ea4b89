import type { KeyObject } from 'node:crypto';
import {
  AuthorizationResponseError,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  fetchUserInfo,
  ResponseBodyError,
} from 'openid-client';
import { GatewayError } from '../errors.ts';
import { accountLabel, accountMember, isWallet } from '../identity/member.ts';
import type { AccountsConfig } from '../settings/config.ts';
import type { Accounts } from './account.ts';
import type { AccountsLog } from './accounts-log.ts';
import { type Claims, neededClaims, requireAllowed, textOf } from './admission.ts';
import type { Account } from './answers.ts';
import type { Keyring } from './keyring.ts';
import { accountsError, badRequest, brokenSignIn, nothingOfThisKind } from './page-errors.ts';
import type { Limits } from './page-limits.ts';
import { type Endpoints, type Input, readText } from './page-request.ts';
import { cacheProvider, checkAccessToken, isUnreachable, scopesFor } from './provider.ts';
import { pagePath } from './site.ts';

interface Dependencies {
  readonly accounts: Accounts;
  readonly settings: AccountsConfig['accounts'];
  readonly readClientSecret: () => Promise<string | undefined>;
  readonly subkey: (label: string) => Promise<KeyObject>;
  readonly keyring: Keyring;
  readonly limits: Limits;
  readonly log: AccountsLog;
  readonly now: () => number;
}

/**
 * OIDC sign-in: the authorization code flow with PKCE, state and nonce, which the page generates and holds in its tab. A person's
 * name and email are shown while the page is open, and never stored.
 */
export function createOidcSignIn(dependencies: Dependencies): Endpoints {
  const { accounts, settings, readClientSecret, subkey, keyring, limits, log, now } = dependencies;
  const { oidcIssuer = '', oidcClientId = '', appUrl } = settings;
  const callbackUrl = `${appUrl}${pagePath}/oidc/callback`;
  const readProvider = cacheProvider({ issuer: oidcIssuer, clientId: oidcClientId, readClientSecret, now });

  const readClaims = async (answer: URLSearchParams, { state, nonce }: SignInState, pkceCodeVerifier: string) => {
    const provider = await readProvider();
    const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier };
    const tokens = await authorizationCodeGrant(provider, new URL(`${callbackUrl}?${answer}`), checks);
    const claims: Claims | undefined = tokens.claims();
    if (!claims) throw new Error('the provider sent no id token');
    checkAccessToken(tokens.access_token, claims, tokens.id_token ?? '');
    // Some providers have these claims only at their userinfo endpoint. The email is also shown.
    const lacks = (names: readonly string[]) => names.some((name) => claims[name] === undefined);
    const needed = neededClaims(settings);
    if (!lacks(['email', ...needed]) || !provider.serverMetadata().userinfo_endpoint) return claims;
    const further = await fetchUserInfo(provider, tokens.access_token, claims.sub).catch((cause) => {
      if (lacks(needed) && isUnreachable(cause)) throw cause;
      log.claimsNotRead(cause, lacks(needed));
      return {};
    });
    return mergeClaims(claims, further);
  };

  return {
    forAnyone: {
      /** Returns the URL to sign in at. */
      async 'oidc/begin'({ input }) {
        const [{ state, nonce }, challenge] = [readState(input), readSecret(input, 'challenge')];
        const provider = await readProvider().catch(explain);
        const url = buildAuthorizationUrl(provider, {
          redirect_uri: callbackUrl,
          scope: scopesFor(provider, settings),
          state,
          nonce,
          code_challenge: challenge,
          code_challenge_method: 'S256',
        });
        return { url: url.href };
      },

      /** Signs a person in with the query string of the callback. */
      async 'oidc/redeem'(request): Promise<Account> {
        const { input, network } = request;
        const answer = new URLSearchParams(readText(input, 'answer', longestAnswer));
        const [state, verifier] = [readState(input), readSecret(input, 'verifier')];
        // Anyone can make up answers, and each causes a request to the provider. Successes don't count: a whole office may sign in at 9.
        const undo = await limits.count('sign-ins', network.id);
        const claims = await readClaims(answer, state, verifier).catch(explain);
        requireAllowed(claims, settings);
        const member = accountMember(await subkey(accountLabel), oidcIssuer, claims.sub);
        await undo();
        const person = { name: textOf(claims.name), email: textOf(claims.email) };
        return { ...(await accounts.open(request, member)), person };
      },
    },

    forMembers: {
      /** Restarts the lifetime of keys: the person has just proved that they may still sign in. */
      async 'keys/renew'(request): Promise<Account> {
        const { input, member } = request;
        if (isWallet(member)) throw nothingOfThisKind();
        for (const id of readIds(input)) await keyring.renew(member, id);
        return accounts.describe(request, member);
      },
    },
  };
}

/** The id token takes precedence. But `email` and `email_verified` must come from the same source, as they belong together. */
function mergeClaims(claims: Claims, further: Readonly<Record<string, unknown>>): Claims {
  const isWhole = claims.email !== undefined && claims.email_verified !== undefined;
  const { email, email_verified } = isWhole || further.email === undefined ? claims : further;
  return { ...further, ...claims, email, email_verified };
}

/** Codes are usually short, but some providers encode a whole session in them. */
const longestAnswer = 8_192;

type SignInState = ReturnType<typeof readState>;

const readState = (input: Input) => ({ state: readSecret(input, 'state'), nonce: readSecret(input, 'nonce') });

/** A random value of 256 bits, or a SHA-256 hash, in base64url. */
function readSecret(input: Input, name: string): string {
  const text = readText(input, name);
  if (/^[\w-]{43}$/.test(text)) return text;
  throw badRequest(`${name} must be 43 letters, digits, - or _.`);
}

function readIds({ ids }: Input): readonly string[] {
  const isList = Array.isArray(ids) && ids.length <= 100 && ids.every((id) => typeof id === 'string');
  if (isList) return ids;
  throw badRequest('ids must be a list of the ids of keys.');
}

const startAgain = 'Please start again.';

/** Explains a failed sign-in to the person. The provider's own message is only logged. */
function explain(cause: unknown): never {
  if (cause instanceof GatewayError) throw cause;
  if (cause instanceof AuthorizationResponseError && cause.error === 'access_denied') {
    throw accountsError(
      'invalid_sign_in',
      `You were not signed in: this was declined on your company’s page. ${startAgain}`,
    );
  }
  if (cause instanceof ResponseBodyError && cause.error === 'invalid_grant') {
    throw accountsError('invalid_sign_in', `That sign-in has expired or was used before. ${startAgain}`, { cause });
  }
  if (isUnreachable(cause)) {
    const message = 'Your company’s sign-in can’t be reached right now. Please try again in a moment.';
    throw new GatewayError('service_unavailable', message, { cause, reason: brokenSignIn });
  }
  const message = `Your company’s sign-in sent an answer that can’t be trusted, so nobody was signed in. ${startAgain}`;
  throw accountsError('invalid_sign_in', message, { cause, reason: brokenSignIn });
}
