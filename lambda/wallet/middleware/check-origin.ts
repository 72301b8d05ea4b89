import { WalletError } from '../wallet-error.ts';
import type { Middleware, PipelineRequest } from './middleware.ts';

/**
 * Refuses what another site's page sends: a browser says where a request comes from in headers that no page can change.
 * A request without them comes from no browser, and from no person who could be tricked.
 */
export function checkOrigin(): Middleware {
  return {
    before: ({ event: { headers, site } }: PipelineRequest) => {
      const { origin = site.origin, 'sec-fetch-site': fetchSite = 'same-origin' } = headers;
      if (origin === site.origin && fetchSite === 'same-origin') return;
      throw new WalletError('forbidden_origin', `This may only be asked by the page ${site.pageUrl} itself.`);
    },
  };
}
