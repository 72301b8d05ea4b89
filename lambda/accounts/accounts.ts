import { randomBytes } from 'node:crypto';
import type { Aws } from '../aws/call-service.ts';
import { GatewayError, toGatewayError } from '../errors.ts';
import { createFindNetwork, type FindNetwork, type Network } from '../identity/network.ts';
import { createToken } from '../quota/counter-store.ts';
import type { App } from '../request/call.ts';
import { createRequestId, headerNames } from '../request/headers.ts';
import { type AccountsConfig, memberBudgetOf, waysToSignIn } from '../settings/config.ts';
import type { RunEvery } from '../settings/refresh.ts';
import { createSecrets } from '../settings/secrets.ts';
import { createCounters } from '../tables/counters.ts';
import { createKeyStore } from '../tables/keys.ts';
import { createMemberStore } from '../tables/members.ts';
import { createTerminalStore } from '../tables/terminals.ts';
import { createAccountAnswers, createMemberActions, type MemberActions } from './account.ts';
import type { Info } from './answers.ts';
import { createCompanySignIn } from './company-sign-in.ts';
import { createKeyring } from './keyring.ts';
import { createFindRules, createLimits } from './limits.ts';
import { createAccountsLog } from './log.ts';
import { createOAuthRoutes, type OAuthDependencies } from './oauth.ts';
import {
  createPagePipeline,
  createRedirectPipeline,
  describeDeployment,
  type Facts,
  type PageFile,
  securityHeaders,
} from './pages.ts';
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
  createRefusalPipeline,
  createSessions,
  openPipeline,
  type Pipeline,
  readInput,
  requireSession,
} from './steps.ts';
import { createTerminals } from './terminals.ts';
import { createWalletSignIn } from './wallet-sign-in.ts';
import { createCompanyWay, createWalletWay, ofCompany, ofWallets, type Way } from './ways-to-sign-in.ts';

/** What the function needs from outside. */
export interface AccountsDependencies extends Aws {
  readonly pageFiles: ReadonlyMap<string, PageFile>;
  readonly writeLog: (line: string) => void;
  readonly now: () => number;
  /** Present if the process stays alive between requests: runs a task at intervals. */
  readonly runEvery?: RunEvery;
  /** How the function is served, unless APP_URL says it. */
  readonly scheme: 'http' | 'https';
}

/** Assembles the accounts function, once per start. */
export function createAccounts(config: AccountsConfig, dependencies: AccountsDependencies): App {
  const { callDynamoDb, readSecret, writeLog, now, runEvery } = dependencies;
  const keys = createKeyStore(callDynamoDb, config.keysTable);
  const members = createMemberStore(callDynamoDb, config.keysTable);
  const counters = createCounters(callDynamoDb, config.quotaTable, now);
  const log = createAccountsLog({ ...config, write: writeLog, now });
  if (config.deployedCommit !== undefined) log.started(config.deployedCommit);
  const secrets = createSecrets(config, { readSecret, now, onStale: log.secretNotRefreshed, runEvery });
  const sessions = createSessions({ store: members, now, randomBytes });

  const own = { wallet: ofWallets, company: ofCompany(config) };
  const findRules = createFindRules(Object.values(own));
  const keyring = createKeyring({ keys, members, findRules, now, randomBytes });
  const limits = createLimits({ counters, findRules, now, createToken });
  const terminals = createTerminals({
    ...{ ...config, keyring, wasSignedOut: members.wasSignedOut, limits, now, randomBytes, subkey: secrets.subkey },
    store: createTerminalStore(callDynamoDb, config.keysTable),
    onKey: (request, keyId) => log.granted(request, { keyId }),
  });
  const accounts = createAccountAnswers({
    ...{ ...config, memberBudget: memberBudgetOf(config), counters, sessions, keyring, findRules, log, now },
    findLink: keys.findLink,
  });

  const signIn = createWalletSignIn({ store: members, now, randomBytes });
  const offered = waysToSignIn(config);
  const ways = offered.map((name) =>
    name === 'wallet'
      ? createWalletWay({ signIn, accounts, limits, linkNetwork: keys.link, log, now })
      : createCompanyWay(own.company, {
          ...{ accounts, keyring, limits },
          signIn: createCompanySignIn({ ...config, ...secrets, clientSecret: secrets.oidcClientSecret, now }),
        }),
  );
  const guests = config.access === 'open' && config.guestLimit > 0;
  return createApp({
    ...config,
    ...dependencies,
    names: headerNames(config.serviceName),
    ...{ ways, memberActions: createMemberActions({ accounts, keyring, limits, terminals, log }) },
    readInfo: async (request) => readInfo(config, offered, request),
    describe: (site) => describeDeployment(config, { guests, ways: offered }, site),
    ...{ sessions, terminals, log },
    findNetwork: createFindNetwork({ ...config, ...secrets }),
  });
}

/** The facts that the page shows before anyone signs in. */
function readInfo(config: AccountsConfig, signIn: Info['signIn'], { network, site }: AccountsRequest): Info {
  const { serviceName, gatewayUrl = site.baseUrl, contextWindow, memberLimit } = config;
  return { serviceName, gatewayUrl, contextWindow, memberLimit, network: network.name, signIn };
}

interface AppDependencies extends OAuthDependencies {
  readonly readInfo: (request: AccountsRequest) => Promise<Info>;
  readonly memberActions: MemberActions;
  /** Where there is none, only the operator issues keys, and there is no page for it. */
  readonly ways: readonly Way[];
  readonly pageFiles: ReadonlyMap<string, PageFile>;
  readonly describe: (site: Site) => Facts;
  readonly findNetwork: FindNetwork;
  readonly appUrl: string | undefined;
  readonly scheme: 'http' | 'https';
}

/** A call in, a response out. */
function createApp(dependencies: AppDependencies): App {
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
    const id = createRequestId();
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

function createRoutes(dependencies: AppDependencies): Routes {
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

function createActionRoutes(dependencies: AppDependencies): Routes {
  const { readInfo, memberActions, ways } = dependencies;
  const open = () => openPipeline(dependencies).step(checkOrigin);
  const withInput = () => open().step(readInput);
  const post = (path: string, pipeline: Pipeline) => [`POST ${pagePath}/${path}`, pipeline] as const;
  const forAnyone = ([path, action]: [string, Way['actions'][string]]) =>
    post(path, withInput().handler(answerWith(action)));
  const forMembers = ([path, action]: [string, MemberActions[string]]) =>
    post(path, withInput().step(requireSession(dependencies)).handler(answerWith(action)));
  return new Map<string, Pipeline>([
    [`GET ${pagePath}/info`, open().handler(answerWith(readInfo))],
    ...Object.entries(memberActions).map(forMembers),
    ...ways.flatMap((way) => [
      ...Object.entries(way.actions).map(forAnyone),
      ...Object.entries(way.memberActions).map(([path, action]) => forMembers([path, onlyFor(way, action)])),
    ]),
    ...createOAuthRoutes(dependencies),
  ]);
}

/** Refuses members of another way. */
const onlyFor =
  (way: Way, action: MemberActions[string]): typeof action =>
  async (request) => {
    if (way.owns(request.member)) return action(request);
    throw new GatewayError('not_found', 'Your account has nothing of this kind.');
  };
