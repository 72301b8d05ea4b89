import type { Call } from '../http/call.ts';
import { badRequest } from './wallet-error.ts';

/** Where the page stands for the person who uses it: what a signature binds, and the only origin that may ask for anything. */
export interface Site {
  /** Host, and the port where it isn't the usual one, as wallets compare it with the page that they see. */
  readonly domain: string;
  readonly origin: string;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly pageUrl: string;
}

interface SiteSettings {
  readonly appUrl: string | undefined;
  /** What the function is served over where no APP_URL says it. */
  readonly scheme: 'http' | 'https';
}

export const pagePath = '/cli';

/** Where the API is described, with the files of that page and of the first one below it. */
export const docsPath = '/docs';

/** Whether a call is this function's, where one address leads to both functions. */
export function isPageCall({ method, path }: Pick<Call, 'method' | 'path'>): boolean {
  if ([pagePath, docsPath].some((root) => path === root || path.startsWith(`${root}/`))) return true;
  return path === '/' && (method === 'GET' || method === 'HEAD');
}

/** The site that a request came to: the operator's APP_URL, else the host that was called. */
export function siteOf(host: string, { appUrl, scheme }: SiteSettings): Site {
  const url = URL.parse(appUrl ?? `${scheme}://${host}`);
  if (!url) throw badRequest('The Host header names no host.');
  const baseUrl = url.href.replace(/\/+$/, '');
  return { domain: url.host, origin: url.origin, baseUrl, pageUrl: baseUrl + pagePath };
}
