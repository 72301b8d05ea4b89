import { renderOpenAiError } from '../dialects/model/openai.ts';
import { GatewayError, toGatewayError } from '../errors.ts';
import type { FindNetwork } from '../identity/network.ts';
import { createPipeline } from '../pipeline.ts';
import { createRequestId, headerNames } from '../request/headers.ts';
import type { App, GatewayResponse } from '../request/incoming-request.ts';
import type { Accounts } from './account.ts';
import type { AccountsLog } from './accounts-log.ts';
import { codeOf } from './page-errors.ts';
import {
  type AccountsRequest,
  type Actions,
  checkOrigin,
  type Endpoints,
  readForm,
  readInput,
} from './page-request.ts';
import { type Facts, type PageFile, securityHeaders, servePage } from './pages.ts';
import {
  docsPath,
  hasOwnAddress,
  isForOAuth,
  isSigningIn,
  isTerminalPath,
  pagePath,
  type Site,
  siteOf,
} from './site.ts';

interface Dependencies {
  readonly serviceName: string;
  readonly appUrl: string | undefined;
  readonly scheme: 'http' | 'https';
  /** What there is besides pages. Pages that need what is not there are not there either. */
  readonly parts: readonly Endpoints[];
  readonly pageFiles: ReadonlyMap<string, PageFile>;
  readonly describe: (site: Site) => Facts;
  readonly accounts: Pick<Accounts, 'findSigner'>;
  readonly findNetwork: FindNetwork;
  readonly log: AccountsLog;
}

type Endpoint = (request: AccountsRequest) => Promise<GatewayResponse>;

/** A call in, a response out. */
export function createApp(dependencies: Dependencies): App {
  const { serviceName, appUrl, scheme, parts, findNetwork, log } = dependencies;
  const errorHeader = headerNames(serviceName).error;

  const refuse = (request: AccountsRequest, thrown: unknown, render = renderOpenAiError): GatewayResponse => {
    const error = toGatewayError(thrown);
    log.refused(request, error);
    const headers = { ...error.headers, ...jsonHeaders, [errorHeader]: codeOf(error) };
    return { statusCode: error.status, headers, body: render(error) };
  };
  const routes = createRoutes(dependencies, refuse);

  const findEndpoint = (method: string, path: string): [route: string, endpoint: Endpoint] => {
    const route = `${method === 'HEAD' ? 'GET' : method} ${path}`;
    const found = routes.get(route);
    if (found) return [route, found];
    const allowed = ['GET', 'POST'].filter((other) => routes.has(`${other} ${path}`)).join(', ');
    if (allowed !== '') return [path, () => Promise.reject(methodNotAllowed(allowed))];
    const pages = parts.length > 0 ? `/, ${pagePath} and ${docsPath}` : `/ and ${docsPath}`;
    return ['unknown', () => Promise.reject(new GatewayError('not_found', `There is nothing here but ${pages}.`))];
  };

  return async (call) => {
    const { method, headers, bodySize, takeBody } = call;
    const id = createRequestId();
    const [route, endpoint] = findEndpoint(method, call.path);
    let request: AccountsRequest = { id, route, headers, bodySize, takeBody, site: nowhere, network: nobodys };
    const answer = async () => {
      const site = siteOf(call.host, scheme, appUrl);
      // Only a platform vouches for the host that was called. Elsewhere a page could name itself, and wallets would see a match.
      const mustBeKnown = isTerminalPath(call.path) || (scheme === 'http' && isSigningIn(call));
      if (mustBeKnown && !hasOwnAddress(site, appUrl)) throw withoutAddress();
      request = { ...request, site, network: await findNetwork(headers, call.sourceAddress) };
      call.memory.claim(request.network.site);
      return endpoint(request);
    };
    const render = isForOAuth(call.path) ? renderOAuthError : renderOpenAiError;
    const response = await answer().catch((thrown) => refuse(request, thrown, render));
    return {
      ...response,
      headers: { ...response.headers, ...securityHeaders, 'x-request-id': id, 'request-id': id },
      body: method === 'HEAD' ? '' : response.body,
    };
  };
}

function methodNotAllowed(allowed: string): GatewayError {
  return new GatewayError('method_not_allowed', `This path takes ${allowed} only.`, { headers: { allow: allowed } });
}

const nowhere: Site = { domain: '', origin: '', baseUrl: '', pageUrl: '' };
const nobodys = { id: '', name: '', site: '' };

function withoutAddress(): GatewayError {
  const message = 'Nobody can sign in here yet: the operator has to set these pages’ own address first.';
  return new GatewayError('not_found', message);
}

const jsonHeaders = { 'content-type': 'application/json', 'cache-control': 'no-store' };

/** Errors that any request may end with, by their code in OAuth: https://www.rfc-editor.org/rfc/rfc6749#section-5.2 */
function renderOAuthError(error: GatewayError): string {
  const { status, message } = error;
  const named = status === 429 ? 'slow_down' : status >= 500 ? 'temporarily_unavailable' : 'invalid_request';
  return JSON.stringify({ error: status === 400 ? codeOf(error) : named, error_description: message });
}

type Refuse = (request: AccountsRequest, thrown: unknown, render?: typeof renderOAuthError) => GatewayResponse;

/** The endpoints by method and path: a pipeline each. */
function createRoutes(dependencies: Dependencies, refuse: Refuse): ReadonlyMap<string, Endpoint> {
  const { parts, pageFiles, describe, accounts } = dependencies;
  const redirect = (path: string) =>
    [`GET ${path}/`, async () => ({ statusCode: 308, headers: { location: `..${path}` }, body: '' })] as const;
  const routes = new Map<string, Endpoint>([
    ...[...pageFiles].map(([path, file]) => [`GET ${path}`, servePage(file, describe)] as const),
    // The pages' links are relative to a path without a slash at its end.
    ...[docsPath, pagePath].map(redirect),
  ]);
  // Where the provider sends people back to.
  if (!parts.some(({ forAnyone = {} }) => 'oidc/redeem' in forAnyone)) routes.delete(`GET ${pagePath}/oidc/callback`);
  const missing = [
    ...(parts.some(({ forMembers }) => forMembers) ? [] : pagesToSignIn),
    ...(parts.length > 0 ? [] : clientsPage),
  ];
  for (const path of missing) routes.delete(`GET ${pagePath}${path}`);

  const open = (render?: typeof renderOAuthError) =>
    createPipeline<AccountsRequest, AccountsRequest, GatewayResponse>((request, thrown) =>
      refuse(request, thrown, render),
    );
  const fromOwnPage = {
    before: (request: AccountsRequest) => {
      checkOrigin(request);
      return {};
    },
  };
  const withForm = () =>
    open(renderOAuthError)
      .step(fromOwnPage)
      .step({ before: async (request) => ({ form: await readForm(request) }) });
  const withInput = () =>
    open()
      .step(fromOwnPage)
      .step({ before: async (request) => ({ input: await readInput(request) }) });
  const signedIn = () =>
    withInput().step({
      before: ({ headers, route }) =>
        accounts.findSigner(headers.authorization, isForTerminals(route) ? 'terminal' : 'account'),
    });

  /** Each action gets a pipeline of its own, at a path that begins with `root`. */
  const add = <Request>(root: string, openPipeline: () => Pipeline<Request>, actions: Actions<Request> = {}) => {
    for (const [path, act] of Object.entries(actions)) {
      const answer = async (request: Request) => ({
        statusCode: 200,
        headers: jsonHeaders,
        body: JSON.stringify(await act(request)),
      });
      routes.set(root + path, openPipeline().handler(answer));
    }
  };
  for (const { facts, forTerminals, forAnyone, forMembers } of parts) {
    add('GET ', open, facts);
    add('POST ', withForm, forTerminals);
    add(`POST ${pagePath}/`, withInput, forAnyone);
    add(`POST ${pagePath}/`, signedIn, forMembers);
  }
  return routes;
}

const isForTerminals = (route: string): boolean => route.startsWith(`POST ${pagePath}/device/`);

/** All steps but the last. */
interface Pipeline<Request> {
  handler(handle: (request: Request) => Promise<GatewayResponse>): Endpoint;
}

/** The stylesheets and scripts beside these stay also where nobody signs in: the other pages share them. */
const pagesToSignIn = ['/device', '/device.js', '/login.sh', '/oidc/callback', '/callback.js'];
const clientsPage = ['', '/'];
