import { Readable } from 'node:stream';
import type { GatewayError } from '../errors.ts';
import type { GatewayResponse } from '../request/request.ts';
import { type Facts, type FilledPage, fillPage, type PageFile } from './pages.ts';
import type { Action, SignedIn, Site, WalletRequest, WithInput } from './request.ts';
import { checkOrigin, openPipeline, type PipelineDependencies, readInput, requireSession } from './steps.ts';

/** Answers a request, also after an error. */
export type Pipeline = (request: WalletRequest) => Promise<GatewayResponse>;

/** Requests that anyone may send, from the page or a terminal. */
export function createReadPipeline(action: Action, dependencies: PipelineDependencies): Pipeline {
  return openPipeline(dependencies).step(checkOrigin()).handler(answerWith(action));
}

/** Requests with a body, before anyone is signed in. */
export function createActionPipeline(action: Action<WithInput>, dependencies: PipelineDependencies): Pipeline {
  return openPipeline(dependencies).step(checkOrigin()).step(readInput()).handler(answerWith(action));
}

/** Requests of a person who is signed in. */
export function createSessionPipeline(
  action: Action<WithInput & SignedIn>,
  dependencies: PipelineDependencies,
): Pipeline {
  return openPipeline(dependencies)
    .step(checkOrigin())
    .step(readInput())
    .step(requireSession(dependencies))
    .handler(answerWith(action));
}

function answerWith<Request>(action: (request: Request) => Promise<object>) {
  return async (request: Request): Promise<GatewayResponse> => {
    const body = JSON.stringify(await action(request));
    return { statusCode: 200, headers: { 'content-type': 'application/json', 'cache-control': 'no-store' }, body };
  };
}

interface PageDependencies extends PipelineDependencies {
  readonly describe: (site: Site) => Facts;
}

/** Serves a file of the pages, or a 304 to a browser that has it already. */
export function createPagePipeline(file: PageFile, dependencies: PageDependencies): Pipeline {
  const fill = rememberLast((site) => fillPage(file, dependencies.describe(site)));
  return openPipeline(dependencies).handler(async ({ headers, site }) => {
    const { text, gzipped, etag } = fill(site);
    const cached = { etag, 'cache-control': 'no-cache', vary: 'accept-encoding' };
    if (headers['if-none-match'] === etag) return { statusCode: 304, headers: cached, body: '' };
    const head = { ...cached, 'content-type': file.contentType };
    if (!takesGzip(headers['accept-encoding'])) return { statusCode: 200, headers: head, body: text };
    return { statusCode: 200, headers: { ...head, 'content-encoding': 'gzip' }, body: Readable.from([gzipped]) };
  });
}

/** A deployment is nearly always called by one address, so its pages are filled once. */
function rememberLast(fill: (site: Site) => FilledPage): (site: Site) => FilledPage {
  let last: { readonly baseUrl: string; readonly page: FilledPage } | undefined;
  return (site) => {
    if (last?.baseUrl !== site.baseUrl) last = { baseUrl: site.baseUrl, page: fill(site) };
    return last.page;
  };
}

const takesGzip = (accepted = ''): boolean => /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(accepted);

/** The pages' links are relative to a path without a slash at its end. */
export function createRedirectPipeline(location: string, dependencies: PipelineDependencies): Pipeline {
  return openPipeline(dependencies).handler(async () => ({ statusCode: 308, headers: { location }, body: '' }));
}

/** Answers with an error: for unknown paths, wrong methods and requests that can't be served. */
export function createRefusalPipeline(error: GatewayError, dependencies: PipelineDependencies): Pipeline {
  return openPipeline(dependencies).handler(() => Promise.reject(error));
}
