import type { Config } from './config.ts';
import { isPrivateHost } from './private-host.ts';

/** Warns if strangers can spend the operator's money without a limit. */
export function warnOfOpenSpending(config: Config): string[] {
  const isLimited = config.quota.dailyLimit !== undefined || config.budget.spendLimit !== undefined;
  if (isLimited || !servesStrangers(config) || !costsMoney(config)) return [];
  return [
    'ACCESS is open, and nothing limits what all callers together spend at the upstream: set DAILY_LIMIT, or SPEND_LIMIT with PRICES, or ACCESS to keys',
  ];
}

/** Whether anyone can be served, any number of times, without a key from the operator. */
function servesStrangers({ accounts, quota }: Config): boolean {
  const guests = quota.guestLimit > 0 && quota.guestDailyLimit === undefined;
  return accounts.access === 'open' && (guests || accounts.walletSignIn);
}

/** A self-hosted model server bills nobody, and neither does the demo. */
export function costsMoney({ upstreams, secrets }: Config): boolean {
  return upstreams.all.some(({ apiKeys, tokenRegion, addresses }) => {
    const isUsed = apiKeys.length > 0 || tokenRegion !== undefined || secrets.upstreamSecretId !== undefined;
    return isUsed && Object.values(addresses).some((url) => !isPrivateHost(new URL(url).hostname));
  });
}
