import { z } from 'zod';
import { parseJson } from '../../lambda/settings/json.ts';
import { get, post, quote, type Reply } from './probe.ts';
import { type Checked, type Finding, fail, note, ok, untested } from './report.ts';
import type { Run } from './run.ts';

type Surroundings = Pick<Run, 'app' | 'appUrl' | 'oidcIssuer' | 'models'>;

/** Checks only the ways to sign in that the gateway offers. */
export async function* checkSignIn(run: Surroundings): AsyncGenerator<Checked> {
  yield* checkCompany(run);
  yield* checkTerminals(run);
}

/** Stands in for the random values that a page would generate. None of them is stored. */
const madeUp = 'the-doctor'.padEnd(43, '-');

const pageInfo = z.object({ signIn: z.array(z.string()) });

/** The ways of signing in that the pages offer. */
async function readWays(app: Surroundings['app']): Promise<readonly string[]> {
  const info = await app(get('/cli/info'));
  return pageInfo.safeParse(parseJson(info.text)).data?.signIn ?? [];
}

const beginning = z.object({ url: z.url() });

/** Starts an OIDC sign-in, and returns with a code that the provider never issued. */
async function* checkCompany({ app, appUrl, oidcIssuer }: Surroundings): AsyncGenerator<Checked> {
  const check = 'with a company account';
  if (!(await readWays(app)).includes('company')) {
    if (oidcIssuer === undefined) return;
    yield [check, fail(`${appUrl}/cli does not offer it, though OIDC_ISSUER is set: deploy, or mend APP_URL`)];
    return;
  }
  const begun = await app(post('/cli/oidc/begin', {}, { state: madeUp, nonce: madeUp, challenge: madeUp }));
  yield [check, checkBeginning(begun, appUrl, oidcIssuer)];
  if (begun.status !== 200 || oidcIssuer === undefined) return;
  const answer = String(new URLSearchParams({ code: 'the-doctor', state: madeUp, iss: oidcIssuer }));
  const redeemed = await app(post('/cli/oidc/redeem', {}, { state: madeUp, nonce: madeUp, verifier: madeUp, answer }));
  yield ['the client’s secret', checkSecret(redeemed)];
}

/** Whether the gateway reaches its provider, whose metadata it fetches before it redirects anybody there. */
function checkBeginning(begun: Reply, appUrl: string, oidcIssuer = 'OIDC_ISSUER'): Finding {
  const { data } = beginning.safeParse(parseJson(begun.text));
  if (!data) {
    const place = `${oidcIssuer}/.well-known/openid-configuration`;
    return fail(`${quote(begun)}: open ${place} and compare its \`issuer\` with OIDC_ISSUER, letter by letter`);
  }
  const { host, searchParams } = new URL(data.url);
  const [callback, own] = [searchParams.get('redirect_uri'), `${appUrl}/cli/oidc/callback`];
  if (callback !== own) return fail(`people would come back to ${callback}: set APP_URL to ${appUrl}`);
  return ok(`at ${host}, where ${callback} must be registered`);
}

/** Whether the provider accepts the client secret, which it checks before the code. */
function checkSecret(redeemed: Reply): Finding {
  if (redeemed.status === 429) return untested('this network has failed to sign in too often; try again in an hour');
  if (/expired or was used before/.test(redeemed.text)) return ok('the provider takes it');
  return fail('the provider refuses the client: store its secret in OidcClientSecret again, and check OIDC_CLIENT_ID');
}

/** Sends the device flow's endpoints requests that start nothing: one from an unknown client, and a code that was never issued. */
async function* checkTerminals({ app, models: [service], appUrl }: Surroundings): AsyncGenerator<Checked> {
  const check = 'from a terminal';
  const described = await app(get('/.well-known/oauth-authorization-server'));
  if (described.status !== 200) {
    if ((await readWays(app)).length > 0)
      yield [check, note('terminals can’t sign in until APP_URL is the address of /cli')];
    return;
  }
  const { data } = z.object({ issuer: z.string() }).safeParse(parseJson(described.text));
  if (data?.issuer !== appUrl) {
    yield [check, fail(`terminals are sent to ${data?.issuer ?? quote(described)}: set APP_URL to ${appUrl}`)];
    return;
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
      yield [
        check,
        fail(`${reply.title} answered ${quote(reply)}: what stands before the gateway must pass on /oauth/*`),
      ];
      return;
    }
  }
  yield [check, ok('their endpoints answer')];
}
