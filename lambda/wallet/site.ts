import type { Call } from '../http/call.ts';
import { badRequest } from './wallet-error.ts';

/** Where people see the page: the site that signatures are bound to, and the only origin that may send requests. */
export interface Site {
  /** The host, with its port unless that is the default one. Wallets compare it with the page. */
  readonly domain: string;
  readonly origin: string;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly pageUrl: string;
}

interface SiteSettings {
  readonly appUrl: string | undefined;
  /** The scheme that the function is served over, if there is no APP_URL. */
  readonly scheme: 'http' | 'https';
}

export const pagePath = '/cli';

/** Where the API is described, with the files of that page and of the first one below it. */
export const docsPath = '/docs';

/** Whether a call is for the pages, where one process serves both apps. */
export function isPageCall({ method, path }: Pick<Call, 'method' | 'path'>): boolean {
  if ([pagePath, docsPath].some((root) => path === root || path.startsWith(`${root}/`))) return true;
  return path === '/' && (method === 'GET' || method === 'HEAD');
}

/** The longest domain name, with the longest port. */
const longestHost = 253 + ':65535'.length;

/** The site that a request came to: the operator's APP_URL, else the host that was called. */
export function siteOf(host: string, { appUrl, scheme }: SiteSettings): Site {
  const called = host.length <= longestHost ? `${scheme}://${host}` : '';
  const url = URL.parse(appUrl ?? called);
  if (!url) throw badRequest('The Host header names no host.');
  const baseUrl = appUrl ?? url.origin;
  return { domain: url.host, origin: url.origin, baseUrl, pageUrl: baseUrl + pagePath };
}
