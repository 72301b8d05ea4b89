import { warnOfLostReasoning } from '../lambda/hiding/lost-reasoning.ts';
import { warnOfNamesInCode } from '../lambda/hiding/names-in-code.ts';
import { type Config, waysToSignIn } from '../lambda/settings/config.ts';
import { costsMoney, warnOfOpenSpending } from '../lambda/settings/open-spending.ts';
import { headerMap } from '../lambda/settings/upstream-definitions.ts';
import type { StackValues } from './stack-settings.ts';

export type Texts = Readonly<Record<string, string>>;

/** What can be deployed, but is probably a mistake. */
export function findWarnings(stage: string, values: StackValues, environment: Texts, config: Config): string[] {
  return [
    ...alarmWarnings(stage, values, config),
    ...upstreamWarnings(environment),
    ...warnOfOpenSpending(config),
    ...signInWarnings(environment),
    ...edgeWarnings(values, config),
    ...warnOfNamesInCode(config.upstreams.all, config.hiding),
    ...warnOfLostReasoning(config.upstreams.all, config.hiding),
  ];
}

function alarmWarnings(stage: string, values: StackValues, config: Config): string[] {
  const { alarmEmail, alarmTokens, alarmSpending, terminationProtection } = values;
  const isInUse = stage === 'prod' || terminationProtection;
  if (!isInUse) return [];
  const toNobody = 'alarmEmail is not set: alarms reach only those who subscribe to the topic in the output AlarmTopic';
  const ofNothing =
    'nothing tells you when callers spend much at the upstream: set alarmTokens, or alarmSpending with PRICES, or a limit such as SPEND_LIMIT';
  const isWatched = (alarmTokens ?? alarmSpending ?? config.quota.dailyLimit ?? config.budget.spendLimit) !== undefined;
  return [...(alarmEmail === undefined ? [toNobody] : []), ...(isWatched || !costsMoney(config) ? [] : [ofNothing])];
}

/** Names of headers that probably carry a secret. */
const secretHeader =
  /(^|[-_])(authorization|auth|api-?key|key|token|secret|password|cookie|bearer|credentials?)([-_]|$)|(access|auth|secret)(token|key)$/;

/** Whether a URL is a placeholder. */
export const isExample = (url: string): boolean => URL.parse(url)?.hostname.endsWith('.example') ?? false;

function upstreamWarnings(environment: Texts): string[] {
  return Object.entries(environment).flatMap(([name, text]) => {
    if (/^UPSTREAM_.*BASE_URL$/.test(name) && isExample(text))
      return `${name} is an example: set it to the address of your upstream`;
    if (!/^UPSTREAM_.*HEADERS$/.test(name)) return [];
    const secret = Object.keys(headerMap.parse(text) ?? {}).filter((header) => secretHeader.test(header));
    if (secret.length === 0) return [];
    return `${name} has ${secret.join(' and ')} in clear text in the template: put it into the upstream's secret, under the same name`;
  });
}

/** OIDC sign-in by itself keeps nobody out. */
function signInWarnings({ OIDC_ISSUER, ACCESS, GUEST_LIMIT, WALLET_SIGN_IN }: Texts): string[] {
  if (OIDC_ISSUER === undefined || ACCESS === 'keys') return [];
  const others = [
    ...(Number(GUEST_LIMIT) > 0 ? ['guests'] : []),
    ...(WALLET_SIGN_IN === 'false' ? [] : ['anyone with a wallet']),
  ];
  if (others.length === 0) return [];
  return [`OIDC_ISSUER keeps nobody out: ${others.join(' and ')} may call as well, unless ACCESS is keys`];
}

/** Behind CloudFront's own domain, the functions don't see which host was called. */
function edgeWarnings({ edge, edgeDomainName }: StackValues, config: Config): string[] {
  if (
    !edge ||
    edgeDomainName !== undefined ||
    config.accounts.appUrl !== undefined ||
    waysToSignIn(config.accounts).length === 0
  )
    return [];
  return [
    'APP_URL is not set: behind the edge nobody can sign in at /cli until it is the output GatewayUrl, without its last slash',
  ];
}
