import { WalletError } from '../wallet-error.ts';
import type { Middleware, PipelineRequest } from './middleware.ts';

/**
 * Refuses requests from other sites' pages. Browsers name a request's origin in headers that no page can change. A request
 * without them does not come from a browser, so nobody was tricked into sending it.
 */
export function checkOrigin(): Middleware {
  return {
    before: ({ event: { headers, site } }: PipelineRequest) => {
      const { origin = site.origin, 'sec-fetch-site': fetchSite = 'same-origin' } = headers;
      if (origin === site.origin && fetchSite === 'same-origin') return;
      throw new WalletError('forbidden_origin', `Only the page ${site.pageUrl} itself may send this request.`);
    },
  };
}
