import type { LambdaFunctionURLEvent } from 'aws-lambda';
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

/** Whether a path is this function's, where one address leads to both functions. */
export function isPagePath(path: string): boolean {
  return path === pagePath || path.startsWith(`${pagePath}/`);
}

/** The site that a request came to: the operator's APP_URL, else the domain that the Function URL was called by. */
export function siteOf(event: LambdaFunctionURLEvent, { appUrl, scheme }: SiteSettings): Site {
  const url = URL.parse(appUrl ?? `${scheme}://${authorityOf(event)}`);
  if (!url) throw badRequest('The Host header names no host.');
  const baseUrl = url.href.replace(/\/+$/, '');
  return { domain: url.host, origin: url.origin, baseUrl, pageUrl: baseUrl + pagePath };
}

/** Only the header knows the port, which a local server has; it is believed where it names the domain that was called. */
function authorityOf({ headers, requestContext: { domainName } }: LambdaFunctionURLEvent): string {
  const url = URL.parse(`http://${headers.host}`);
  return url?.hostname === domainName ? url.host : domainName;
}
