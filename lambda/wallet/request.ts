import { GatewayError, toGatewayError } from '../errors.ts';
import type { Network } from '../identity/network.ts';
import type { Call } from '../request/call.ts';

/** One request as it arrives. */
export interface WalletRequest {
  readonly id: string;
  /** Method and path as the routes name them, for the log. */
  readonly route: string;
  /** By lower-case name. */
  readonly headers: Call['headers'];
  readonly bodySize: Call['bodySize'];
  readonly takeBody: Call['takeBody'];
  readonly site: Site;
  readonly network: Network;
}

/** Added by `readInput`. */
export interface WithInput {
  readonly input: Readonly<Record<string, unknown>>;
}

/** Added by `requireSession`. */
export interface SignedIn {
  readonly member: string;
}

/** The errors that only this function has; all others are in the gateway's own catalogue. */
const statuses = {
  /** A request that another site's page has sent. */
  forbidden_origin: 403,
  /** The signature is not that of the account that the message names. */
  invalid_signature: 401,
  /** The signed message can't be used here and now. */
  invalid_sign_in: 401,
  invalid_session: 401,
  too_many_keys: 409,
} as const;

export class WalletError extends Error {
  readonly code: keyof typeof statuses;
  readonly status: number;
  readonly headers = {};
  readonly reason = undefined;
  readonly nature = 'request';

  constructor(code: keyof typeof statuses, message: string) {
    super(message);
    this.name = 'WalletError';
    this.code = code;
    this.status = statuses[code];
  }
}

/** Turns anything thrown into an error that may be shown. */
export function toShownError(thrown: unknown): WalletError | GatewayError {
  return thrown instanceof WalletError ? thrown : toGatewayError(thrown);
}

export function badRequest(message: string, status = 400): GatewayError {
  return new GatewayError('invalid_request', message, { status });
}

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
