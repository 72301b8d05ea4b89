import { Readable } from 'node:stream';
import type { GatewayError } from '../../http/errors.ts';
import type { GatewayResponse } from '../../http/gateway-request.ts';
import { pipeline } from '../../http/pipeline.ts';
import type { Facts } from '../facts.ts';
import { type FilledPage, fillPage } from '../fill-page.ts';
import { renderErrors } from '../middleware/render-errors.ts';
import type { PageFile } from '../page-files.ts';
import type { Site } from '../site.ts';
import type { WalletRequest } from '../wallet-request.ts';
import type { Pipeline, PipelineDependencies } from './pipeline.ts';

interface PageDependencies extends PipelineDependencies {
  readonly describe: (site: Site) => Facts;
}

/** Serves a file of the pages, or a 304 to a browser that has it already. */
export function createPagePipeline(file: PageFile, dependencies: PageDependencies): Pipeline {
  const fill = rememberLast((site) => fillPage(file, dependencies.describe(site)));
  return pipeline([renderErrors(dependencies)], async ({ headers, site }: WalletRequest): Promise<GatewayResponse> => {
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
  return pipeline([renderErrors(dependencies)], async () => ({ statusCode: 308, headers: { location }, body: '' }));
}

/** Answers with an error: for unknown paths, wrong methods and requests that can't be served. */
export function createRefusalPipeline(error: GatewayError, dependencies: PipelineDependencies): Pipeline {
  return pipeline([renderErrors(dependencies)], () => Promise.reject(error));
}
