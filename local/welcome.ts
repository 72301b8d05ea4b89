import { styleText } from 'node:util';
import { type Config, hasClientsPage } from '../lambda/settings/config.ts';
import { defaultPort, reachableUrl } from './local-settings.ts';
import type { LocalGateway } from './start.ts';

/** The text shown when the gateway is up: where it is, and a first request to paste. */
export function renderWelcome(gateway: LocalGateway): string {
  const { settings, config, port, firstKey } = gateway;
  const base = reachableUrl(settings.host, port);
  const keys = `${port === defaultPort ? '' : `PORT=${port} `}npm run keys --`;
  const { demoDialects } = settings;
  const spoken = demoDialects ? `, which speaks only ${demoDialects.join(' and ')}: the rest is translated` : '';
  const facts = {
    upstream:
      gateway.upstreamHosts?.join(', then ') ?? `the built-in demo${spoken}; set UPSTREAM_BASE_URL for a real one`,
    callers: whoMayCall(config),
    store: whereKept(gateway),
    docs: hasClientsPage(config.accounts) ? `${base}/docs; clients in a browser: ${base}/cli` : `${base}/docs`,
    keys: `${keys} issue, list or setup CLIENT`,
    ...(gateway.metricsUrl !== undefined && { metrics: `${gateway.metricsUrl}/metrics` }),
    ...(settings.demoOidc && {
      company: `made up; at ${base}/cli \`ada\` can sign in and \`mallory\` is kept out, with any password`,
    }),
  };
  const question = {
    model: config.service.serviceName,
    messages: [{ role: 'user', content: 'Who are you?' }],
    stream: true,
  };
  const style = (format: 'bold' | 'dim', text: string) => styleText(format, text, { stream: process.stdout });
  return [
    `listening on ${style('bold', gateway.url)}`,
    '',
    ...Object.entries(facts).map(([name, fact]) => `${style('dim', name.padEnd(8))}  ${fact}`),
    '',
    firstKey
      ? style('dim', `# a first request; the key has ${config.quota.memberLimit} a day, and is told only here`)
      : style('dim', '# a first request, with a key that was issued before: only its hash is kept'),
    `KEY=${firstKey ?? 'YOUR_KEY'}`,
    `curl -N ${base}/v1/chat/completions -H "authorization: Bearer $KEY" -H 'content-type: application/json' -d '${JSON.stringify(question)}'`,
    '\n',
  ].join('\n');
}

function whoMayCall({ accounts, quota }: Config): string {
  const company = accounts.oidcIssuer === undefined ? '' : ', which people with a company account make at /cli';
  if (accounts.access === 'keys') return `keys only${company}`;
  if (quota.guestLimit === 0)
    return `keys only${company || (accounts.walletSignIn ? ', which wallets get at /cli' : '')}`;
  return 'open to anybody who reaches this address';
}

function whereKept({ settings, place }: LocalGateway): string {
  if (place.tables)
    return settings.dynamodbEndpoint ?? `the tables ${place.tables.keysTable} and ${place.tables.quotaTable}`;
  return settings.server.dataDir ?? 'gone when this ends; set DATA_DIR to keep it';
}
