import { createHash, randomBytes } from 'node:crypto';

/** Signs in on a gateway's pages with a company's account, as the page does it. */
export async function signInOn(base: string, login: string) {
  const post = (path: string, body: object) =>
    fetch(`${base}/cli/oidc/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: base },
      body: JSON.stringify(body),
    });
  const [state, nonce, verifier] = [0, 1, 2].map(() => randomBytes(32).toString('base64url')) as [
    string,
    string,
    string,
  ];
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const { url } = (await (await post('begin', { state, nonce, challenge })).json()) as { url: string };
  const back = await signInAt(url, login);
  const response = await post('redeem', { state, nonce, verifier, answer: back.search.slice(1) });
  return { provider: new URL(url).origin, back: back.href, status: response.status, body: await response.json() };
}

/** Signs in at a provider as a person does, page by page, and gives the address that the browser is sent back to. */
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
