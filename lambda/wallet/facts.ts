import { headerPrefix } from '../http/gateway-headers.ts';
import type { WalletConfig } from './config.ts';
import { createSdkSnippets } from './pages/cli/snippets-sdks.js';
import type { Site } from './site.ts';

/** What fills the places of the pages, such as `{{service}}`. */
export type Facts = Readonly<Record<string, string>>;

/** What a deployment says of itself to people; its address is the one that they came to, unless the operator named another. */
export function describeDeployment(
  { serviceName, guestLimit, guestWindow, memberLimit, gatewayUrl }: WalletConfig,
  site: Site,
): Facts {
  const gateway = gatewayUrl ?? site.baseUrl;
  const [curl] = createSdkSnippets({ gatewayUrl: gateway, serviceName, key: guestLimit > 0 ? 'guest' : 'YOUR_KEY' });
  return {
    service: serviceName,
    headers: headerPrefix(serviceName),
    gateway,
    guests: describeGuests(guestLimit, guestWindow === 'daily' ? ' a day' : ''),
    members: `${count(memberLimit)} a day`,
    request: curl?.blocks[0]?.text ?? '',
  };
}

function describeGuests(limit: number, window: string): string {
  if (limit === 0) return 'Put your key in the place of YOUR_KEY.';
  return `${count(limit)}${window} from your network ${limit === 1 ? 'needs' : 'need'} no key: any word will do in its place.`;
}

const count = (requests: number) => `${requests} request${requests === 1 ? '' : 's'}`;
