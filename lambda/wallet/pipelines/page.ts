import middy from '@middy/core';
import type { GatewayError } from '../../http/errors.ts';
import type { GatewayResponse } from '../../http/gateway-request.ts';
import { renderErrors } from '../middleware/render-errors.ts';
import type { PageFile } from '../page-files.ts';
import type { WalletRequest } from '../wallet-request.ts';
import type { Pipeline, PipelineDependencies } from './pipeline.ts';

/** A file of the page; a browser that has it already is told so. */
export function createPagePipeline(file: PageFile, dependencies: PipelineDependencies): Pipeline {
  return middy<WalletRequest, GatewayResponse>({ timeoutEarlyInMillis: 0 })
    .use(renderErrors(dependencies))
    .handler(async ({ headers }: WalletRequest): Promise<GatewayResponse> => {
      const { contentType, text, etag } = file;
      const cached = { etag, 'cache-control': 'no-cache' };
      if (headers['if-none-match'] === etag) return { statusCode: 304, headers: cached, body: '' };
      return { statusCode: 200, headers: { ...cached, 'content-type': contentType }, body: text };
    });
}

/** The page's links are relative to a path without a slash at its end. */
export function createRedirectPipeline(location: string, dependencies: PipelineDependencies): Pipeline {
  return middy<WalletRequest, GatewayResponse>({ timeoutEarlyInMillis: 0 })
    .use(renderErrors(dependencies))
    .handler(async (): Promise<GatewayResponse> => ({ statusCode: 308, headers: { location }, body: '' }));
}

/** Unknown paths, wrong methods, and what can't be answered at all. */
export function createRefusalPipeline(error: GatewayError, dependencies: PipelineDependencies): Pipeline {
  return middy<WalletRequest, GatewayResponse>({ timeoutEarlyInMillis: 0 })
    .use(renderErrors(dependencies))
    .handler((): Promise<GatewayResponse> => Promise.reject(error));
}
