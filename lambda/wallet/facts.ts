import { headerPrefix } from '../http/gateway-headers.ts';
import type { WalletConfig } from './config.ts';
import { createSdkSnippets } from './pages/cli/snippets-sdks.js';
import type { Site } from './site.ts';

/** The values for the pages' placeholders, such as `{{service}}`. One that is empty does not hold. */
export type Facts = Readonly<Record<string, string>>;

/** The facts that a deployment shows people. Its address is the one that they called, unless the operator set another. */
export function describeDeployment(
  { serviceName, contextWindow, memberLimit, gatewayUrl }: WalletConfig,
  site: Site,
): Facts {
  const gateway = gatewayUrl ?? site.baseUrl;
  const [curl] = createSdkSnippets({ gatewayUrl: gateway, serviceName, key: 'guest' });
  return {
    service: serviceName,
    headers: headerPrefix(serviceName),
    gateway,
    window: contextWindow?.toLocaleString('en') ?? '',
    members: `${memberLimit} request${memberLimit === 1 ? '' : 's'} a day`,
    request: curl?.blocks[0]?.text ?? '',
  };
}
