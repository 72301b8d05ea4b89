import { GatewayError, toGatewayError } from '../errors.ts';
import type { FindNetwork, Network } from '../identity/network.ts';
import type { App } from '../request/call.ts';
import type { Actions } from './actions.ts';
import { createOAuthRoutes, type OAuthDependencies } from './oauth.ts';
import { type Facts, type PageFile, securityHeaders } from './pages.ts';
import {
  type AccountsRequest,
  docsPath,
  hasOwnAddress,
  isTerminalPath,
  pagePath,
  type Site,
  siteOf,
} from './request.ts';
import {
  answerWith,
  checkOrigin,
  createPagePipeline,
  createRedirectPipeline,
  createRefusalPipeline,
  openPipeline,
  type Pipeline,
  readInput,
  requireSession,
} from './steps.ts';
import type { Way } from './ways.ts';

/** Refuses members of another way. */
const onlyFor =
  (way: Way, action: Way['memberActions'][string]): typeof action =>
  async (request) => {
    if (way.owns(request.member)) return action(request);
    throw new GatewayError('not_found', 'Your account has nothing of this kind.');
  };

interface AccountsAppDependencies extends OAuthDependencies {
  readonly actions: Actions;
  /** Where there is none, only the operator issues keys, and there is no page for it. */
  readonly ways: readonly Way[];
  readonly pageFiles: ReadonlyMap<string, PageFile>;
  readonly describe: (site: Site) => Facts;
  readonly findNetwork: FindNetwork;
  readonly appUrl: string | undefined;
  readonly scheme: 'http' | 'https';
  readonly createRequestId: () => string;
}

/** The whole function: a call in, a response out. */
export function createAccountsApp(dependencies: AccountsAppDependencies): App {
  const { findNetwork } = dependencies;
  const routes = createRoutes(dependencies);
  const refusal = (error: GatewayError) => createRefusalPipeline(error, dependencies);

  const findPipeline = (method: string, path: string): [string, Pipeline] => {
    const route = `${method === 'HEAD' ? 'GET' : method} ${path}`;
    const found = routes.get(route);
    if (found) return [route, found];
    const allowed = ['GET', 'POST'].filter((other) => routes.has(`${other} ${path}`)).join(', ');
    if (allowed === '') {
      const pages = dependencies.ways.length > 0 ? `/, ${pagePath} and ${docsPath}` : `/ and ${docsPath}`;
      return ['unknown', refusal(new GatewayError('not_found', `There is nothing here but ${pages}.`))];
    }
    const message = `This path takes ${allowed} only.`;
    return [path, refusal(new GatewayError('method_not_allowed', message, { headers: { allow: allowed } }))];
  };

  return async (call) => {
    const { method, headers, bodySize, takeBody } = call;
    const id = dependencies.createRequestId();
    let [route, pipeline] = findPipeline(method, call.path);
    let [site, network]: [Site, Network] = [nowhere, { id: '', name: '', site: '' }];
    try {
      site = siteOf(call.host, dependencies);
      if (isTerminalPath(call.path) && !hasOwnAddress(site, dependencies.appUrl)) throw withoutAddress();
      network = await findNetwork(headers, call.sourceAddress);
      call.memory.claim(network.site);
    } catch (thrown) {
      pipeline = refusal(toGatewayError(thrown));
    }
    const request: AccountsRequest = { id, route, headers, bodySize, takeBody, site, network };
    const response = await pipeline(request);
    return {
      ...response,
      headers: { ...response.headers, ...securityHeaders, 'x-request-id': id, 'request-id': id },
      body: method === 'HEAD' ? '' : response.body,
    };
  };
}

function withoutAddress(): GatewayError {
  const message = 'Terminals can’t sign in here yet: the operator has to set these pages’ own address first.';
  return new GatewayError('not_found', message);
}

const nowhere: Site = { domain: '', origin: '', baseUrl: '', pageUrl: '' };

type Routes = ReadonlyMap<string, Pipeline>;

function createRoutes(dependencies: AccountsAppDependencies): Routes {
  const { ways, pageFiles } = dependencies;
  const page = (path: string, file: PageFile) => [`GET ${path}`, createPagePipeline(file, dependencies)] as const;
  const redirect = (path: string) => [`GET ${path}/`, createRedirectPipeline(`..${path}`, dependencies)] as const;
  const all = new Map([...[...pageFiles].map(([path, file]) => page(path, file)), redirect(docsPath)]);
  if (ways.length > 0) return new Map([...all, redirect(pagePath), ...createActionRoutes(dependencies)]);
  // The stylesheets and scripts beside these stay: the other pages share them.
  for (const file of ['', '/device', '/device.js', '/login.sh', '/oidc/callback', '/callback.js'])
    all.delete(`GET ${pagePath}${file}`);
  return all;
}

function createActionRoutes(dependencies: AccountsAppDependencies): Routes {
  const { actions, ways } = dependencies;
  const open = () => openPipeline(dependencies).step(checkOrigin());
  const withInput = () => open().step(readInput());
  const signedIn = () => withInput().step(requireSession(dependencies));
  const post = (path: string, pipeline: Pipeline) => [`POST ${pagePath}/${path}`, pipeline] as const;
  return new Map<string, Pipeline>([
    [`GET ${pagePath}/info`, open().handler(answerWith(actions.info))],
    post('keys', signedIn().handler(answerWith(actions.list))),
    post('keys/issue', signedIn().handler(answerWith(actions.issue))),
    post('keys/revoke', signedIn().handler(answerWith(actions.revoke))),
    post('device/find', signedIn().handler(answerWith(actions.findTerminal))),
    post('device/approve', signedIn().handler(answerWith(actions.approveTerminal))),
    post('device/deny', signedIn().handler(answerWith(actions.denyTerminal))),
    ...ways.flatMap((way) => [
      ...Object.entries(way.actions).map(([path, action]) => post(path, withInput().handler(answerWith(action)))),
      ...Object.entries(way.memberActions).map(([path, action]) =>
        post(path, signedIn().handler(answerWith(onlyFor(way, action)))),
      ),
    ]),
    ...createOAuthRoutes(dependencies),
  ]);
}
