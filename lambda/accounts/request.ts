import { GatewayError, toGatewayError } from '../errors.ts';
import type { Network } from '../identity/network.ts';
import type { Call } from '../request/call.ts';
import { isLoopback } from '../settings/read.ts';

/** One request as it arrives. */
export interface AccountsRequest {
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

/** Added by `readForm`. */
export interface WithForm {
  readonly form: URLSearchParams;
}

/** Added by `requireSession`. */
export interface SignedIn {
  readonly member: string;
}

/** An endpoint's work. Its result becomes the JSON of the answer. */
export type Action<Added = unknown> = (request: AccountsRequest & Added) => Promise<object>;

/** The errors that only this function has; all others are in the gateway's own catalogue. */
const statuses = {
  /** A request that another site's page has sent. */
  forbidden_origin: 403,
  /** The signature is not that of the account that the message names. */
  invalid_signature: 401,
  /** The signed message can't be used here and now. */
  invalid_sign_in: 401,
  invalid_session: 401,
  /** The company's sign-in knows the person, and the gateway's settings don't let them in. */
  not_allowed: 403,
  too_many_keys: 409,
  /** What a terminal is told: https://www.rfc-editor.org/rfc/rfc8628#section-3.5 */
  access_denied: 400,
  authorization_pending: 400,
  expired_token: 400,
  invalid_client: 400,
  invalid_grant: 400,
  slow_down: 400,
  unsupported_grant_type: 400,
} as const;

/** The reason in the log if the company's sign-in or its settings are at fault, rather than the person. */
export const brokenSignIn = 'sign_in_broken';

export class AccountsError extends Error {
  readonly code: keyof typeof statuses;
  readonly status: number;
  readonly headers = {};
  /** What happened, in one word for the log. */
  readonly reason: string | undefined;
  readonly nature = 'request';

  /** The cause is logged, never shown. */
  constructor(
    code: keyof typeof statuses,
    message: string,
    { cause, reason }: { readonly cause?: unknown; readonly reason?: string } = {},
  ) {
    super(message, { cause });
    this.name = 'AccountsError';
    this.code = code;
    this.status = statuses[code];
    this.reason = reason;
  }
}

/** Turns anything thrown into an error that may be shown. */
export function toShownError(thrown: unknown): AccountsError | GatewayError {
  return thrown instanceof AccountsError ? thrown : toGatewayError(thrown);
}

export function badRequest(message: string, status = 400): GatewayError {
  return new GatewayError('invalid_request', message, { status });
}

/** Room for the signature of a contract account, so that its owner gets the right error. */
const longestText = 16_384;

/** A text of the body. */
export function readText(input: WithInput['input'], name: string, longest = longestText): string {
  const value = input[name];
  if (typeof value !== 'string' || value === '') throw badRequest(`${name} must be a text.`);
  if (value.length > longest) throw badRequest(`${name} may have ${longest} characters at most.`);
  return value;
}

/** Neither a control character nor one that turns the direction of a text around: operators read labels in a terminal. */
const visible = /^[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}\u200d]{0,40}$/u;

/** What a person calls a new key; undefined if they leave it open. */
export function readLabel(input: WithInput['input']): string | undefined {
  const label = input.label ?? '';
  if (typeof label !== 'string' || !visible.test(label)) {
    throw badRequest('label must be a text of at most 40 visible characters.');
  }
  return label.trim() || undefined;
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

/** Where the API is described, with the files of that page and of the first one below it. */
export const docsPath = '/docs';

/** Whether a call is for the pages, where one process serves both apps. */
export function isPageCall({ method, path }: Pick<Call, 'method' | 'path'>): boolean {
  if (isTerminalPath(path)) return true;
  if ([pagePath, docsPath].some((root) => path === root || path.startsWith(`${root}/`))) return true;
  return path === '/' && (method === 'GET' || method === 'HEAD');
}

/** The longest domain name, with the longest port. */
const longestHost = 253 + ':65535'.length;

/** Terminals keep and run what they are told, so no other host than a person's own machine may name itself to them. */
export function hasOwnAddress({ domain }: Site, appUrl: string | undefined): boolean {
  return appUrl !== undefined || isLoopback(domain.replace(/:\d+$/, ''));
}

/** The site that a request came to: the operator's APP_URL, else the host that was called. */
export function siteOf(host: string, { appUrl, scheme }: SiteSettings): Site {
  const called = host.length <= longestHost ? `${scheme}://${host}` : '';
  const url = URL.parse(appUrl ?? called);
  if (!url) throw badRequest('The Host header names no host.');
  const baseUrl = appUrl ?? url.origin;
  return { domain: url.host, origin: url.origin, baseUrl, pageUrl: baseUrl + pagePath };
}
