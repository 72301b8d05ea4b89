import { GatewayError, toGatewayError } from '../errors.ts';
import type { FindNetwork } from '../identity/network.ts';
import { createPipeline } from '../pipeline.ts';
import { createRequestId, headerNames } from '../request/headers.ts';
import type { App, GatewayResponse } from '../request/incoming-request.ts';
import { type ErrorFormat, isBrowser, openAiErrorFormat } from '../request/routes.ts';
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
  iconPath,
  isDeviceFlowPath,
  isForOAuth,
  isSigningIn,
  pagePath,
  type Site,
  siteOf,
} from './site.ts';

interface Dependencies {
  readonly serviceName: string;
  readonly appUrl: string | undefined;
  readonly scheme: 'http' | 'https';
  /** The page for a browser at an unknown path. */
  readonly lostPage: Look;
  /** The enabled features. A page that needs a disabled one is not served. */
  readonly parts: readonly Endpoints[];
  readonly pageFiles: ReadonlyMap<string, PageFile>;
  readonly describe: (site: Site) => Facts;
  readonly accounts: Pick<Accounts, 'findSigner'>;
  readonly findNetwork: FindNetwork;
  readonly log: AccountsLog;
}

/** How an error looks. */
type Look = Pick<ErrorFormat, 'renderError' | 'errorHeaders'>;
type Endpoint = (request: AccountsRequest) => Promise<GatewayResponse>;

export function createApp(dependencies: Dependencies): App {
  const { serviceName, appUrl, scheme, lostPage, parts, findNetwork, log } = dependencies;
  const errorHeader = headerNames(serviceName).error;

  const refuse = (request: AccountsRequest, thrown: unknown, look: Look = openAiErrorFormat): GatewayResponse => {
    const error = toGatewayError(thrown);
    log.refused(request, error);
    const headers = { ...error.headers, ...jsonHeaders, ...look.errorHeaders, [errorHeader]: codeOf(error) };
    return { statusCode: error.status, headers, body: look.renderError(error) };
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

  return async (incoming) => {
    const { method, headers, bodySize, takeBody } = incoming;
    const id = createRequestId();
    const [route, endpoint] = findEndpoint(method, incoming.path);
    let request: AccountsRequest = {
      id,
      route,
      headers,
      bodySize,
      takeBody,
      site: unknownSite,
      network: unknownNetwork,
    };
    const answer = async () => {
      const site = siteOf(incoming.host, scheme, appUrl);
      // Only a platform like Lambda guarantees the Host header. Elsewhere a phishing page could forge it, and wallets would see a match.
      const mustBeKnown = isDeviceFlowPath(incoming.path) || (scheme === 'http' && isSigningIn(incoming));
      if (mustBeKnown && !hasOwnAddress(site, appUrl)) throw withoutAddress();
      request = { ...request, site, network: await findNetwork(headers, incoming.sourceAddress) };
      incoming.memory.claim(request.network.site);
      return endpoint(request);
    };
    const isLost = route === 'unknown' && isBrowser(incoming);
    const look = isLost ? lostPage : isForOAuth(incoming.path) ? oAuthLook : openAiErrorFormat;
    const response = await answer().catch((thrown) => refuse(request, thrown, look));
    return {
      ...response,
      headers: { ...securityHeaders, ...response.headers, 'x-request-id': id, 'request-id': id },
      body: method === 'HEAD' ? '' : response.body,
    };
  };
}

function methodNotAllowed(allowed: string): GatewayError {
  return new GatewayError('method_not_allowed', `This path takes ${allowed} only.`, { headers: { allow: allowed } });
}

const unknownSite: Site = { domain: '', origin: '', baseUrl: '', pageUrl: '' };
const unknownNetwork = { id: '', name: '', site: '' };

function withoutAddress(): GatewayError {
  const message = 'Nobody can sign in here yet: the operator has to set these pages’ own address first.';
  return new GatewayError('not_found', message);
}

const jsonHeaders = { 'content-type': 'application/json', 'cache-control': 'no-store' };

/** Maps the errors of any request to OAuth's codes: https://www.rfc-editor.org/rfc/rfc6749#section-5.2 */
function renderOAuthError(error: GatewayError): string {
  const { status, message } = error;
  const named = status === 429 ? 'slow_down' : status >= 500 ? 'temporarily_unavailable' : 'invalid_request';
  return JSON.stringify({ error: status === 400 ? codeOf(error) : named, error_description: message });
}

const oAuthLook: Look = { renderError: renderOAuthError };

type Refuse = (request: AccountsRequest, thrown: unknown, look?: Look) => GatewayResponse;

/** The endpoints by method and path, each with its own pipeline. */
function createRoutes(dependencies: Dependencies, refuse: Refuse): ReadonlyMap<string, Endpoint> {
  const { parts, pageFiles, describe, accounts } = dependencies;
  const redirect = (path: string) =>
    [`GET ${path}/`, async () => ({ statusCode: 308, headers: { location: `..${path}` }, body: '' })] as const;
  const routes = new Map<string, Endpoint>([
    ...[...pageFiles].map(([path, file]) => [`GET ${path}`, servePage(file, describe)] as const),
    // The links of the pages are relative to a path without a trailing slash.
    ...[docsPath, pagePath].map(redirect),
  ]);
  // Browsers request this one on their own.
  const icon = pageFiles.get(`${pagePath}/icon.svg`);
  if (icon) routes.set(`GET ${iconPath}`, servePage(icon, describe));
  // The OIDC callback page exists only with OIDC sign-in.
  if (!parts.some(({ forAnyone = {} }) => 'oidc/redeem' in forAnyone)) routes.delete(`GET ${pagePath}/oidc/callback`);
  const missing = [
    ...(parts.some(({ forMembers }) => forMembers) ? [] : pagesToSignIn),
    ...(parts.length > 0 ? [] : clientsPage),
  ];
  for (const path of missing) routes.delete(`GET ${pagePath}${path}`);

  const open = (look?: Look) =>
    createPipeline<AccountsRequest, AccountsRequest, GatewayResponse>((request, thrown) =>
      refuse(request, thrown, look),
    );
  const fromOwnPage = {
    before: (request: AccountsRequest) => {
      checkOrigin(request);
      return {};
    },
  };
  const withForm = () =>
    open(oAuthLook)
      .step(fromOwnPage)
      .step({ before: async (request) => ({ form: await readForm(request) }) });
  const withInput = () =>
    open()
      .step(fromOwnPage)
      .step({ before: async (request) => ({ input: await readInput(request) }) });
  const signedIn = () =>
    withInput().step({
      before: ({ headers, route }) =>
        accounts.findSigner(headers.authorization, isDeviceDecision(route) ? 'terminal' : 'account'),
    });

  /** Adds a route with its own pipeline for each action. */
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
  for (const { facts, forDevices, forAnyone, forMembers } of parts) {
    add('GET ', open, facts);
    add('POST ', withForm, forDevices);
    add(`POST ${pagePath}/`, withInput, forAnyone);
    add(`POST ${pagePath}/`, signedIn, forMembers);
  }
  return routes;
}

const isDeviceDecision = (route: string): boolean => route.startsWith(`POST ${pagePath}/device/`);

/** A pipeline that still lacks its handler. */
interface Pipeline<Request> {
  handler(handle: (request: Request) => Promise<GatewayResponse>): Endpoint;
}

/** Without sign-in, these pages are not served. Their stylesheets and other scripts are, because other pages share them. */
const pagesToSignIn = ['/device', '/device.js', '/login.sh', '/oidc/callback', '/callback.js'];
const clientsPage = ['', '/'];
