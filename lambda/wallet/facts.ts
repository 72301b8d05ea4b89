import { headerPrefix } from '../http/gateway-headers.ts';
import type { WalletConfig } from './config.ts';
import { placeholderKey } from './pages/cli/snippet.js';
import { createSdkSnippets } from './pages/cli/snippets-sdks.js';
import { pagePath, type Site } from './site.ts';

/** The values for the pages' placeholders, such as `{{service}}`. One that is empty does not hold. */
export type Facts = Readonly<Record<string, string>>;

/** What people may do at a deployment. */
export interface Offers {
  /** Try it without a key. */
  readonly guests: boolean;
  /** Get a key at /cli. */
  readonly keys: boolean;
}

/** The facts that a deployment shows people. Its address is the one that they called, unless the operator set another. */
export function describeDeployment(
  { serviceName, contextWindow, memberLimit, gatewayUrl }: WalletConfig,
  offers: Offers,
  site: Site,
): Facts {
  const gateway = gatewayUrl ?? site.baseUrl;
  const key = offers.guests ? 'guest' : placeholderKey;
  const [curl] = createSdkSnippets({ gatewayUrl: gateway, serviceName, key });
  return {
    service: serviceName,
    headers: headerPrefix(serviceName),
    gateway,
    guests: offers.guests ? 'welcome' : '',
    cli: offers.keys ? pagePath : '',
    placeholder: placeholderKey,
    window: contextWindow?.toLocaleString('en') ?? '',
    members: `${memberLimit} request${memberLimit === 1 ? '' : 's'} a day`,
    request: curl?.blocks[0]?.text ?? '',
  };
}
