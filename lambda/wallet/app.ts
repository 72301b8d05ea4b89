import { GatewayError, toGatewayError } from '../errors.ts';
import type { FindNetwork, Network } from '../identity/network.ts';
import type { Call } from '../request/call.ts';
import type { GatewayResponse } from '../request/request.ts';
import type { Actions } from './actions.ts';
import { type Facts, type PageFile, securityHeaders } from './pages.ts';
import { docsPath, pagePath, type Site, siteOf, type WalletRequest } from './request.ts';
import {
  answerWith,
  checkOrigin,
  createPagePipeline,
  createRedirectPipeline,
  createRefusalPipeline,
  openPipeline,
  type Pipeline,
  type PipelineDependencies,
  readInput,
  requireSession,
} from './steps.ts';

interface WalletAppDependencies extends PipelineDependencies {
  readonly actions: Actions;
  readonly pageFiles: ReadonlyMap<string, PageFile>;
  readonly describe: (site: Site) => Facts;
  readonly findNetwork: FindNetwork;
  /** With `keys` only the operator issues them, so there is no page for it. */
  readonly access: 'open' | 'keys';
  readonly appUrl: string | undefined;
  readonly scheme: 'http' | 'https';
  readonly createRequestId: () => string;
}

export type WalletApp = (call: Call) => Promise<GatewayResponse>;

/** The whole function: a call in, a response out. */
export function createWalletApp(dependencies: WalletAppDependencies): WalletApp {
  const { findNetwork } = dependencies;
  const routes = createRoutes(dependencies);
  const refusal = (error: GatewayError) => createRefusalPipeline(error, dependencies);

  const findPipeline = (method: string, path: string): [string, Pipeline] => {
    const route = `${method === 'HEAD' ? 'GET' : method} ${path}`;
    const found = routes.get(route);
    if (found) return [route, found];
    const allowed = ['GET', 'POST'].filter((other) => routes.has(`${other} ${path}`)).join(', ');
    if (allowed === '') {
      const pages = dependencies.access === 'open' ? `/, ${pagePath} and ${docsPath}` : `/ and ${docsPath}`;
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
      network = await findNetwork(headers, call.sourceAddress);
      call.memory.claim(network.site);
    } catch (thrown) {
      pipeline = refusal(toGatewayError(thrown));
    }
    const request: WalletRequest = { id, route, headers, bodySize, takeBody, site, network };
    const response = await pipeline(request);
    return {
      ...response,
      headers: { ...response.headers, ...securityHeaders, 'x-request-id': id, 'request-id': id },
      body: method === 'HEAD' ? '' : response.body,
    };
  };
}

const nowhere: Site = { domain: '', origin: '', baseUrl: '', pageUrl: '' };

type Routes = ReadonlyMap<string, Pipeline>;

function createRoutes(dependencies: WalletAppDependencies): Routes {
  const { access, pageFiles } = dependencies;
  const page = (path: string, file: PageFile) => [`GET ${path}`, createPagePipeline(file, dependencies)] as const;
  const redirect = (path: string) => [`GET ${path}/`, createRedirectPipeline(`..${path}`, dependencies)] as const;
  const all = new Map([...[...pageFiles].map(([path, file]) => page(path, file)), redirect(docsPath)]);
  if (access === 'open') return new Map([...all, redirect(pagePath), ...createActionRoutes(dependencies)]);
  // The stylesheets and scripts beside the page stay: the other pages share them.
  all.delete(`GET ${pagePath}`);
  return all;
}

function createActionRoutes(dependencies: WalletAppDependencies): Routes {
  const { actions } = dependencies;
  const open = () => openPipeline(dependencies).step(checkOrigin());
  const withInput = () => open().step(readInput());
  const signedIn = () => withInput().step(requireSession(dependencies));
  return new Map([
    [`GET ${pagePath}/info`, open().handler(answerWith(actions.info))],
    [`POST ${pagePath}/challenge`, withInput().handler(answerWith(actions.challenge))],
    [`POST ${pagePath}/link`, withInput().handler(answerWith(actions.link))],
    [`POST ${pagePath}/sign-in`, withInput().handler(answerWith(actions.signIn))],
    [`POST ${pagePath}/keys`, signedIn().handler(answerWith(actions.list))],
    [`POST ${pagePath}/keys/issue`, signedIn().handler(answerWith(actions.issue))],
    [`POST ${pagePath}/keys/revoke`, signedIn().handler(answerWith(actions.revoke))],
    [`POST ${pagePath}/network`, signedIn().handler(answerWith(actions.linkAgain))],
  ]);
}
