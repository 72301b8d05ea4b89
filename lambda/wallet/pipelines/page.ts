import type { GatewayError } from '../../http/errors.ts';
import type { GatewayResponse } from '../../http/gateway-request.ts';
import { pipeline } from '../../http/pipeline.ts';
import { renderErrors } from '../middleware/render-errors.ts';
import type { PageFile } from '../page-files.ts';
import type { WalletRequest } from '../wallet-request.ts';
import type { Pipeline, PipelineDependencies } from './pipeline.ts';

/** A file of the page; a browser that has it already is told so. */
export function createPagePipeline(file: PageFile, dependencies: PipelineDependencies): Pipeline {
  return pipeline([renderErrors(dependencies)], async ({ headers }: WalletRequest): Promise<GatewayResponse> => {
    const { contentType, text, etag } = file;
    const cached = { etag, 'cache-control': 'no-cache' };
    if (headers['if-none-match'] === etag) return { statusCode: 304, headers: cached, body: '' };
    return { statusCode: 200, headers: { ...cached, 'content-type': contentType }, body: text };
  });
}

/** The page's links are relative to a path without a slash at its end. */
export function createRedirectPipeline(location: string, dependencies: PipelineDependencies): Pipeline {
  return pipeline([renderErrors(dependencies)], async () => ({ statusCode: 308, headers: { location }, body: '' }));
}

/** Unknown paths, wrong methods, and what can't be answered at all. */
export function createRefusalPipeline(error: GatewayError, dependencies: PipelineDependencies): Pipeline {
  return pipeline([renderErrors(dependencies)], () => Promise.reject(error));
}
