import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { featureNames } from '../dialects/names.ts';
import { headerPrefix } from '../request/headers.ts';
import type { GatewayResponse } from '../request/incoming-request.ts';
import { type AccountsConfig, clientsPageTitle, waysToSignIn } from '../settings/config.ts';
import { serverSettings } from '../settings/definitions.ts';
import { isLoopback } from '../settings/kinds.ts';
import type { AccountsRequest } from './page-request.ts';
import { placeholderKey } from './pages/cli/snippet.js';
import { createSdkSnippets } from './pages/cli/snippets-sdks.js';
import type { Site } from './site.ts';

export interface PageFile {
  readonly contentType: string;
  /** A template: `{{service}}` is a fact of the deployment, and `{{#window}}…{{/window}}` a section that is shown if the fact is set. */
  readonly text: string;
}

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.sh': 'text/x-shellscript; charset=utf-8',
};

/**
 * Reads the page files, by the path that each is served at, which is its path in the folder. `generated`: files that a build would
 * have put into the folder.
 */
export function readPageFiles(
  folder: URL,
  generated: ReadonlyMap<string, string> = new Map(),
): ReadonlyMap<string, PageFile> {
  const written = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => extname(name) in contentTypes)
    .map((name) => [name, readFileSync(new URL(name, folder), 'utf8')] as const);
  return new Map(
    [...written, ...generated].map(([name, text]) => {
      const contentType = contentTypes[extname(name)] ?? '';
      return [`/${name.replace(/\/?index\.html$/, '')}`, { contentType, text }];
    }),
  );
}

/** Renders a template. `{{#name}}…{{/name}}` is kept if the fact is set, `{{^name}}…{{/name}}` if it is not. */
function renderPage({ text, contentType }: PageFile, facts: Facts) {
  const quote = contentType.startsWith('text/html') ? escapeHtml : (value: string) => value;
  const read = (name: string): string => {
    const fact = facts[name];
    if (fact === undefined) throw new Error(`a page asks for ${name}, which nobody knows`);
    return fact;
  };
  const choose = (part: string): string =>
    part.replace(sections, (_, sign: string, name: string, inner: string) =>
      (read(name) !== '') === (sign === '#') ? choose(inner) : '',
    );
  const filled = choose(text).replace(/\{\{(\w+)\}\}/g, (_, name: string) => quote(read(name)));
  const digest = hash('sha256', filled, 'base64url').slice(0, 22);
  // Weak, because the plain and the compressed response share it.
  return { text: filled, gzipped: gzipSync(filled, { level: 9 }), etag: `W/"${digest}"` };
}

const sections = /\{\{([#^])(\w+)\}\}(.*?)\{\{\/\2\}\}/gs;

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** For text and for double-quoted attributes. */
const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => entities[character] ?? '');

/** The values for placeholders such as `{{service}}`. An empty one counts as not set. */
export type Facts = Readonly<Record<string, string>>;

/** The facts of a deployment. Its URL is the one that was called, unless GATEWAY_URL is set. */
export function describeDeployment(
  { service, accounts, quota }: AccountsConfig,
  site: Site,
  onOwnMachine = false,
): Facts {
  const { serviceName, contextWindow, notOffered, gatewayUrl = site.baseUrl } = service;
  const { deviceKeyDays } = accounts;
  const guests = accounts.access === 'open' && quota.guestLimit > 0;
  const requests = (count: number) => `${count.toLocaleString('en')} request${count === 1 ? '' : 's'}`;
  const ways = waysToSignIn(accounts);
  const [curl] = createSdkSnippets({ gatewayUrl, serviceName, key: guests ? 'guest' : placeholderKey });
  return {
    service: serviceName,
    headers: headerPrefix(serviceName),
    gateway: gatewayUrl,
    app: site.baseUrl,
    days: deviceKeyDays === 1 ? 'a day' : `${deviceKeyDays} days`,
    guests: guests ? `${requests(quota.guestLimit)} ${quota.guestWindow === 'daily' ? 'a day' : 'to try'}` : '',
    cli: clientsPageTitle(accounts) ?? '',
    signIn: ways.length > 0 ? 'yes' : '',
    company: ways.includes('company') ? 'yes' : '',
    wallet: ways.includes('wallet') ? 'yes' : '',
    issue: onOwnMachine ? issueCommand(site) : '',
    placeholder: placeholderKey,
    ...Object.fromEntries(featureNames.map((feature) => [feature, notOffered.includes(feature) ? '' : 'yes'])),
    window: contextWindow?.toLocaleString('en') ?? '',
    members: `${requests(quota.memberLimit)} a day`,
    request: curl?.blocks[0]?.text ?? '',
  };
}

/** The command that makes a key, for an operator on the gateway's own machine; empty for anybody else. */
function issueCommand({ domain }: Site): string {
  const [host = '', port = ''] = domain.split(/:(?=\d+$)/);
  if (!isLoopback(host)) return '';
  return `${port === serverSettings.PORT.fallback ? '' : `PORT=${port} `}npm run keys -- issue`;
}

/** Serves a page file, or a 304 if the browser has it cached. */
export function servePage(file: PageFile, describe: (site: Site) => Facts) {
  // A deployment is nearly always called by the same host, so pages are rendered once.
  let last: { readonly baseUrl: string; readonly page: ReturnType<typeof renderPage> } | undefined;
  return async ({ headers, site }: AccountsRequest): Promise<GatewayResponse> => {
    const { baseUrl } = site;
    if (last?.baseUrl !== baseUrl) last = { baseUrl, page: renderPage(file, describe(site)) };
    const { text, gzipped, etag } = last.page;
    const cached = { etag, 'cache-control': 'no-cache', vary: 'accept-encoding' };
    if (headers['if-none-match'] === etag) return { statusCode: 304, headers: cached, body: '' };
    const head = { ...cached, 'content-type': file.contentType };
    if (!takesGzip(headers['accept-encoding'])) return { statusCode: 200, headers: head, body: text };
    return { statusCode: 200, headers: { ...head, 'content-encoding': 'gzip' }, body: Readable.from([gzipped]) };
  };
}

const takesGzip = (accepted = ''): boolean => /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(accepted);

/** No other origins, no inline code, no framing. Wallets supply their icons as data URLs. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** On every response. No CORS headers, so no other site can read a response. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': contentSecurityPolicy,
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), clipboard-write=(self)',
};
