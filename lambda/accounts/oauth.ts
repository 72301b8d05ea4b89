import { createAgentSnippets } from './pages/cli/snippets-agents.js';
import {
  AccountsError,
  type AccountsRequest,
  badRequest,
  type Site,
  terminalPaths,
  type toShownError,
  type WithForm,
} from './request.ts';
import { answerWith, checkOrigin, openPipeline, type Pipeline, type PipelineDependencies, readForm } from './steps.ts';
import type { Terminals } from './terminals.ts';

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

export interface OAuthDependencies extends PipelineDependencies {
  readonly terminals: Terminals;
  readonly serviceName: string;
  /** The gateway's address, unless it is the page's own. */
  readonly gatewayUrl: string | undefined;
  readonly contextWindow: number | undefined;
}

/** What terminals ask, in the form that OAuth has for it: https://www.rfc-editor.org/rfc/rfc8628 */
export function createOAuthRoutes(dependencies: OAuthDependencies): ReadonlyMap<string, Pipeline> {
  const { terminals, serviceName } = dependencies;
  const clientId = `${serviceName}-terminal`;
  const post = (answer: (request: AccountsRequest & WithForm) => Promise<object>): Pipeline =>
    openPipeline(dependencies, inOAuthShape)
      .step(checkOrigin)
      .step(readForm)
      .handler(
        answerWith(async (request) => {
          const client = readField(request.form, 'client_id');
          if (client !== clientId) throw new AccountsError('invalid_client', `client_id must be ${clientId}.`);
          return answer(request);
        }),
      );
  const get = (describe: (site: Site) => object): Pipeline =>
    openPipeline(dependencies).handler(answerWith(async ({ site }) => describe(site)));

  return new Map([
    [
      `POST ${terminalPaths.begin}`,
      post(async ({ network, site }) => {
        const { deviceCode, userCode, expiresIn, interval } = await terminals.begin(network.id);
        const page = `${site.pageUrl}/device`;
        return {
          device_code: deviceCode,
          user_code: userCode,
          verification_uri: page,
          expires_in: expiresIn,
          interval,
        };
      }),
    ],
    [
      `POST ${terminalPaths.token}`,
      post(async (request) => {
        const grant = readField(request.form, 'grant_type');
        if (grant !== deviceGrant) {
          throw new AccountsError('unsupported_grant_type', `grant_type must be ${deviceGrant}.`);
        }
        const { key, expiresIn } = await terminals.redeem(readField(request.form, 'device_code'), request);
        return { access_token: key, token_type: 'Bearer', expires_in: expiresIn };
      }),
    ],
    [`GET ${terminalPaths.metadata}`, get(describeServer)],
    [`GET ${terminalPaths.opencode}`, get((site) => describeForOpencode(site, dependencies))],
  ]);
}

/** https://www.rfc-editor.org/rfc/rfc8414 */
const describeServer = ({ baseUrl }: Site): object => ({
  issuer: baseUrl,
  device_authorization_endpoint: baseUrl + terminalPaths.begin,
  token_endpoint: baseUrl + terminalPaths.token,
  grant_types_supported: [deviceGrant],
  response_types_supported: [],
  token_endpoint_auth_methods_supported: ['none'],
});

/** What `opencode auth login URL` reads: the command that prints a key, the variable that the key goes into, and its settings. */
function describeForOpencode(
  { baseUrl, pageUrl }: Site,
  { serviceName, gatewayUrl, contextWindow }: OAuthDependencies,
) {
  const env = `${serviceName.toUpperCase().replaceAll('-', '_')}_API_KEY`;
  const access = { gatewayUrl: gatewayUrl ?? baseUrl, serviceName, key: `{env:${env}}`, contextWindow };
  const settings = createAgentSnippets(access).find(({ id }) => id === 'opencode')?.blocks[0]?.text ?? '{}';
  return { auth: { command: ['sh', '-c', `curl -fsS ${pageUrl}/login.sh | sh`], env }, config: JSON.parse(settings) };
}

function readField(form: URLSearchParams, name: string): string {
  const value = form.get(name);
  if (value) return value;
  throw badRequest(`${name} is missing.`);
}

/** Errors that any request may end with, by their code in OAuth: https://www.rfc-editor.org/rfc/rfc6749#section-5.2 */
function inOAuthShape({ code, status, message }: ReturnType<typeof toShownError>): object {
  const isOAuths = status === 400;
  const named = status === 429 ? 'slow_down' : status >= 500 ? 'temporarily_unavailable' : 'invalid_request';
  return { error: isOAuths ? code : named, error_description: message };
}
