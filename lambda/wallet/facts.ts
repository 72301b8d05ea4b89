import { headerPrefix } from '../http/gateway-headers.ts';
import type { WalletConfig } from './config.ts';
import { createSdkSnippets } from './pages/cli/snippets-sdks.js';
import type { Site } from './site.ts';

/** What fills the placeholders of the pages, such as `{{service}}`. */
export type Facts = Readonly<Record<string, string>>;

/** What a deployment tells people about itself. Its address is the one that they called, unless the operator set another. */
export function describeDeployment({ serviceName, memberLimit, gatewayUrl }: WalletConfig, site: Site): Facts {
  const gateway = gatewayUrl ?? site.baseUrl;
  const [curl] = createSdkSnippets({ gatewayUrl: gateway, serviceName, key: 'guest' });
  return {
    service: serviceName,
    headers: headerPrefix(serviceName),
    gateway,
    members: `${memberLimit} request${memberLimit === 1 ? '' : 's'} a day`,
    request: curl?.blocks[0]?.text ?? '',
  };
}
