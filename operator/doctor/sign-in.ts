import { z } from 'zod';
import { parseJson } from '../../lambda/settings/read.ts';
import { get, post, quote } from './probe.ts';
import { type Finding, fail, note, ok, untested } from './report.ts';
import { type Check, type Run, shared } from './run.ts';

/** Nothing is said about what is not offered. */
export function signInChecks(run: Run): readonly Check[] {
  const company = shared(() => askCompany(run));
  return [
    ['with a company account', async () => checkDiscovery(await company(), run)],
    ['the client’s secret', async () => checkSecret(await company())],
    ['from a terminal', () => checkTerminals(run)],
  ];
}

/** In place of what a page makes at random: nothing of it is kept. */
const madeUp = 'the-doctor'.padEnd(43, '-');

const pageInfo = z.object({ signIn: z.array(z.string()) });
const beginning = z.object({ url: z.url() });

/** Begins to sign in with a company account, and comes back with a code that the provider has never given. */
async function askCompany({ app, oidcIssuer }: Run) {
  const info = await app(get('/cli/info'));
  const isOffered = pageInfo.safeParse(parseJson(info.text)).data?.signIn.includes('company');
  if (!isOffered) return {};
  const begun = await app(post('/cli/oidc/begin', {}, { state: madeUp, nonce: madeUp, challenge: madeUp }));
  if (begun.status !== 200 || oidcIssuer === undefined) return { begun };
  const answer = String(new URLSearchParams({ code: 'the-doctor', state: madeUp, iss: oidcIssuer }));
  const redeemed = await app(post('/cli/oidc/redeem', {}, { state: madeUp, nonce: madeUp, verifier: madeUp, answer }));
  return { begun, redeemed };
}

type Asked = Awaited<ReturnType<typeof askCompany>>;

/** Whether the gateway finds its provider, which it asks before it sends anybody there. */
function checkDiscovery({ begun }: Asked, { appUrl, oidcIssuer }: Run): Finding | undefined {
  if (!begun) {
    if (oidcIssuer === undefined) return undefined;
    return fail(`${appUrl}/cli does not offer it, though OIDC_ISSUER is set: deploy, or mend APP_URL`);
  }
  const { data } = beginning.safeParse(parseJson(begun.text));
  if (!data) {
    const place = `${oidcIssuer ?? 'OIDC_ISSUER'}/.well-known/openid-configuration`;
    return fail(`${quote(begun)}: open ${place} and compare its \`issuer\` with OIDC_ISSUER, letter by letter`);
  }
  const { host, searchParams } = new URL(data.url);
  const [callback, own] = [searchParams.get('redirect_uri'), `${appUrl}/cli/oidc/callback`];
  if (callback !== own) return fail(`people would come back to ${callback}: set APP_URL to ${appUrl}`);
  return ok(`at ${host}, where ${callback} must be registered`);
}

/** Whether the provider takes the client's secret: only then does it look at a code. */
function checkSecret({ redeemed }: Asked): Finding | undefined {
  if (!redeemed) return undefined;
  if (redeemed.status === 429) return untested('this network has failed to sign in too often; try again in an hour');
  if (/expired or was used before/.test(redeemed.text)) return ok('the provider takes it');
  return fail('the provider refuses the client: put its secret into OidcClientSecret anew, and check OIDC_CLIENT_ID');
}

/** Asks terminals' endpoints for what begins nothing: another client's code, and a code that was never given. */
async function checkTerminals({ app, models: [service], appUrl }: Run): Promise<Finding | undefined> {
  const described = await app(get('/.well-known/oauth-authorization-server'));
  if (described.status !== 200) {
    const pages = await app(get('/cli/info'));
    return pages.status === 200 ? note('terminals can’t sign in until APP_URL is the address of /cli') : undefined;
  }
  const { data } = z.object({ issuer: z.string() }).safeParse(parseJson(described.text));
  if (data?.issuer !== appUrl) {
    return fail(`terminals are sent to ${data?.issuer ?? quote(described)}: set APP_URL to ${appUrl}`);
  }
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
  const cases: readonly [path: string, form: Record<string, string>, error: string][] = [
    ['/oauth/device_authorization', { client_id: 'the-doctor' }, 'invalid_client'],
    ['/oauth/token', { client_id: `${service}-terminal`, grant_type, device_code: madeUp }, 'invalid_grant'],
  ];
  for (const [path, form, error] of cases) {
    const reply = await app(post(path, headers, String(new URLSearchParams(form))));
    const found = z.object({ error: z.literal(error) }).safeParse(parseJson(reply.text));
    if (reply.status !== 400 || !found.success) {
      return fail(`${reply.title} answered ${quote(reply)}: what stands before the gateway must pass on /oauth/*`);
    }
  }
  return ok('their endpoints answer');
}
