import type { Config } from './config.ts';
import { isPrivateHost } from './private-host.ts';

/** Warns where strangers may spend the operator's money, and nothing says how much. */
export function warnOfOpenSpending(config: Config): string[] {
  const { dailyLimit, spendLimit } = config;
  if (dailyLimit !== undefined || spendLimit !== undefined || !servesStrangers(config) || !costsMoney(config))
    return [];
  return [
    'ACCESS is open, and nothing limits what all callers together spend at the upstream: set DAILY_LIMIT, or SPEND_LIMIT with PRICES, or ACCESS to keys',
  ];
}

/** Whether people without a key of the operator's are served, and as often as they come. */
function servesStrangers({ access, guestLimit, guestDailyLimit, walletSignIn }: Config): boolean {
  const guests = guestLimit > 0 && guestDailyLimit === undefined;
  return access === 'open' && (guests || walletSignIn);
}

/** A model server of one's own bills nobody, and neither does the demo. */
function costsMoney({ upstreams, upstreamSecretId }: Config): boolean {
  return upstreams.some(({ apiKeys, addresses }) => {
    const isUsed = apiKeys.length > 0 || upstreamSecretId !== undefined;
    return isUsed && Object.values(addresses).some((url) => !isPrivateHost(new URL(url).hostname));
  });
}
