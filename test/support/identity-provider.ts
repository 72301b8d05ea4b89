import { createHash, randomBytes } from 'node:crypto';
import type { ReplyBody } from './accounts.ts';

const appUrl = 'https://app.example';

/** Where a provider redirects people to. */
export const callbackUrl = `${appUrl}/cli/oidc/callback`;

export interface Issuer {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret?: string;
}

/** Settings of a gateway that everybody with an account at this provider may sign in to. */
export const companySettings = ({ issuer, clientId, clientSecret }: Issuer): Readonly<Record<string, string>> => ({
  APP_URL: appUrl,
  OIDC_ALLOW_ALL: 'true',
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: clientId,
  ...(clientSecret !== undefined && { OIDC_CLIENT_SECRET: clientSecret }),
});

export const random = () => randomBytes(32).toString('base64url');

/** What the page generates before it redirects to the provider. */
export const makeState = () => ({ state: random(), nonce: random(), verifier: random() });
type Made = ReturnType<typeof makeState>;

async function post(base: string, path: string, body: object) {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${base}/cli/oidc/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as ReplyBody & { readonly url: string } };
}

/** The address that a gateway's page redirects to. */
export async function begin(base: string, { state, nonce, verifier }: Made): Promise<string> {
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  return (await post(base, 'begin', { state, nonce, challenge })).body.url;
}

/** Hands a provider's response to a gateway. */
export const redeem = (base: string, made: Made, answer: string) => post(base, 'redeem', { ...made, answer });

/** Signs in on a gateway's pages with OIDC, as the page does. */
export async function signInOn(base: string, login: string) {
  const made = makeState();
  const url = await begin(base, made);
  const back = await signInAt(url, login);
  return { provider: new URL(url).origin, back: back.href, ...(await redeem(base, made, back.search.slice(1))) };
}

/** Signs in at a provider as a person does, page by page. Returns the address that the browser is redirected to. */
export async function signInAt(url: string, login: string): Promise<URL> {
  const cookies = new Map<string, string>();
  const go = async (target: URL, form?: Record<string, string>): Promise<Response> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(target, {
      redirect: 'manual',
      headers: { cookie },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    return response;
  };
  let at = new URL(url);
  const { origin } = at;
  let response = await go(at);
  for (let page = 0; page < 10; page += 1) {
    const location = response.headers.get('location');
    if (location !== null) {
      at = new URL(location, at);
      if (at.origin !== origin) return at;
      response = await go(at);
      continue;
    }
    const html = await response.text();
    const [, action = ''] = /action="([^"]+)"/.exec(html) ?? [];
    const [, prompt = ''] = /name="prompt" value="(\w+)"/.exec(html) ?? [];
    if (action === '') throw new Error(`the provider shows no form: ${html.slice(0, 500)}`);
    at = new URL(action, at);
    response = await go(at, { prompt, login, password: 'any' });
  }
  throw new Error('the provider never sent the browser back');
}
