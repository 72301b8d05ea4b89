import { createServer } from 'node:http';
import Provider from 'oidc-provider';
import { listenLocally } from '../listen-locally.ts';

/** The accounts by user name; any password will do. */
const accounts: Readonly<Record<string, object>> = {
  ada: { name: 'Ada', email: 'ada@example.com', email_verified: true, groups: ['engineers'] },
  mallory: { name: 'Mallory', email: 'mallory@elsewhere.example', email_verified: true, groups: [] },
};

export type IdentityProvider = Awaited<ReturnType<typeof startIdentityProvider>>;

interface Options {
  /** The allowed redirect URI. */
  readonly callbackUrl: string;
  /** Whether the ID token itself has the claims about a person, rather than only the userinfo endpoint. */
  readonly claimsInIdToken?: boolean;
}

/** A real OpenID Connect provider on this machine, with made-up accounts. */
export async function startIdentityProvider({ callbackUrl, claimsInIdToken = true }: Options) {
  const server = createServer();
  const { url: issuer, close } = await listenLocally(server);
  const [clientId, clientSecret] = ['gateway', 'the secret of the demo'];
  const settings = {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [callbackUrl] }],
    cookies: { keys: ['a key that signs the cookies of a demo'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    scopes: ['openid', 'email', 'profile', 'groups'],
    // In seconds. For each that is unset, the provider prints a notice.
    ttl: { Interaction: 600, Session: 3600, Grant: 3600, AccessToken: 600, IdToken: 600 },
    conformIdTokenClaims: !claimsInIdToken,
    findAccount: (_context: unknown, id: string) => {
      const account = accounts[id];
      return account && { accountId: id, claims: () => ({ sub: id, ...account }) };
    },
  };
  const provider = withoutNotices(() => new Provider(issuer, settings));
  server.on('request', provider.callback());
  return { issuer, clientId, clientSecret, close };
}

/** Silences the provider's warnings that this is no production setup, as a demo is none. */
function withoutNotices<T>(act: () => T): T {
  const { info, warn } = console;
  Object.assign(console, { info: () => {}, warn: () => {} });
  try {
    return act();
  } finally {
    Object.assign(console, { info, warn });
  }
}
