import type { IncomingRequest } from '../request/incoming-request.ts';
import { isLoopback } from '../settings/kinds.ts';
import { badRequest } from './page-errors.ts';

/** Where people see the page: the site that signatures are bound to, and the only origin that may send requests. */
export interface Site {
  /** The host, with its port unless that is the default one. Wallets compare it with the page. */
  readonly domain: string;
  readonly origin: string;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly pageUrl: string;
}

export const pagePath = '/cli';

/** Where the API is described, with the files of that page and of the first one below it. */
export const docsPath = '/docs';

/** Where terminals sign in, and where clients find out about it. */
export const terminalPaths = {
  begin: '/oauth/device_authorization',
  token: '/oauth/token',
  metadata: '/.well-known/oauth-authorization-server',
  opencode: '/.well-known/opencode',
} as const;

/** Whether a path belongs to signing in from a terminal. */
export const isTerminalPath = (path: string): boolean =>
  Object.values<string>(terminalPaths).includes(path) || /^\/cli\/(device(\/.*)?|login\.sh)$/.test(path);

/** Whether clients of OAuth send their requests there, who know no other errors than OAuth's. */
export const isForOAuth = (path: string): boolean => path === terminalPaths.begin || path === terminalPaths.token;

/** Whether a call is for the pages, where one process serves both apps. */
export function isPageCall({ method, path }: Pick<IncomingRequest, 'method' | 'path'>): boolean {
  if (isTerminalPath(path)) return true;
  if ([pagePath, docsPath].some((root) => path === root || path.startsWith(`${root}/`))) return true;
  return path === '/' && (method === 'GET' || method === 'HEAD');
}

/** Whether a call leads to a key: everything that the page posts. */
export const isSigningIn = ({ method, path }: Pick<IncomingRequest, 'method' | 'path'>): boolean =>
  method === 'POST' && path.startsWith(`${pagePath}/`);

/** The longest domain name, with the longest port. */
const longestHost = 253 + ':65535'.length;

/**
 * Terminals keep and run what they are told, and wallets sign what a site calls itself, so no other host than a person's own machine may
 * name itself to them.
 */
export function hasOwnAddress({ domain }: Site, appUrl: string | undefined): boolean {
  return appUrl !== undefined || isLoopback(domain.replace(/:\d+$/, ''));
}

/** The site that a request came to: the operator's APP_URL, else the host that was called. */
export function siteOf(host: string, scheme: string, appUrl: string | undefined): Site {
  const called = host.length <= longestHost ? `${scheme}://${host}` : '';
  const url = URL.parse(appUrl ?? called);
  if (!url) throw badRequest('The Host header names no host.');
  const baseUrl = appUrl ?? url.origin;
  return { domain: url.host, origin: url.origin, baseUrl, pageUrl: baseUrl + pagePath };
}
