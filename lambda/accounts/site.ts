import type { IncomingRequest } from '../request/incoming-request.ts';
import { isLoopback } from '../settings/kinds.ts';
import { badRequest } from './page-errors.ts';

/** Where the page is served: the site that signatures are bound to, and the only origin that may send requests. */
export interface Site {
  /** The host, with its port unless that is the default. Wallets compare it with the page's. */
  readonly domain: string;
  readonly origin: string;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly pageUrl: string;
}

export const pagePath = '/cli';

/** The API docs. The files of the start page are below it too. */
export const docsPath = '/docs';

/** Browsers request this path on their own. */
export const iconPath = '/favicon.ico';

/** The endpoints of the device flow, and its discovery documents. */
export const deviceFlowPaths = {
  begin: '/oauth/device_authorization',
  token: '/oauth/token',
  metadata: '/.well-known/oauth-authorization-server',
  opencode: '/.well-known/opencode',
} as const;

/** Whether a path belongs to the device flow. */
export const isDeviceFlowPath = (path: string): boolean =>
  Object.values<string>(deviceFlowPaths).includes(path) || /^\/cli\/(device(\/.*)?|login\.sh)$/.test(path);

/** Whether errors at this path must be in OAuth's format. */
export const isForOAuth = (path: string): boolean => path === deviceFlowPaths.begin || path === deviceFlowPaths.token;

/** Whether a request is for the account pages, if one process serves both apps. */
export function isPageRequest({ method, path }: Pick<IncomingRequest, 'method' | 'path'>): boolean {
  if (isDeviceFlowPath(path)) return true;
  if ([pagePath, docsPath].some((root) => path === root || path.startsWith(`${root}/`))) return true;
  return (path === '/' || path === iconPath) && (method === 'GET' || method === 'HEAD');
}

/** Whether a request may lead to a key: everything that the page posts. */
export const isSigningIn = ({ method, path }: Pick<IncomingRequest, 'method' | 'path'>): boolean =>
  method === 'POST' && path.startsWith(`${pagePath}/`);

/** The longest domain name, with the longest port. */
const longestHost = 253 + ':65535'.length;

/**
 * Whether the site's address can be trusted. Terminals store and run what they are sent, and wallets sign the site's own name, so the
 * Host header is good enough only on localhost.
 */
export function hasOwnAddress({ domain }: Site, appUrl: string | undefined): boolean {
  return appUrl !== undefined || isLoopback(domain.replace(/:\d+$/, ''));
}

/** The site that a request was sent to: APP_URL, or else the host that was called. */
export function siteOf(host: string, scheme: string, appUrl: string | undefined): Site {
  const called = host.length <= longestHost ? `${scheme}://${host}` : '';
  const url = URL.parse(appUrl ?? called);
  if (!url) throw badRequest('The Host header names no host.');
  const baseUrl = appUrl ?? url.origin;
  return { domain: url.host, origin: url.origin, baseUrl, pageUrl: baseUrl + pagePath };
}
