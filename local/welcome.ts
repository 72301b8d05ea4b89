import { styleText } from 'node:util';
import { hasClientsPage } from '../lambda/settings/config.ts';
import { defaultPort, reachableUrl } from './local-settings.ts';
import type { LocalGateway } from './start.ts';

/** The text shown when the gateway is up: where it is, and a first request to paste. */
export function renderWelcome(gateway: LocalGateway): string {
  const { settings, config, port, memberKey } = gateway;
  const base = reachableUrl(settings.host, port);
  const keys = `${port === defaultPort ? '' : `PORT=${port} `}npm run keys --`;
  const { demoDialects } = settings;
  const spoken = demoDialects ? `, which speaks only ${demoDialects.join(' and ')}: the rest is translated` : '';
  const facts = {
    upstream:
      gateway.upstreamHosts?.join(', then ') ?? `the built-in demo${spoken}; set UPSTREAM_BASE_URL for a real one`,
    tables: settings.dynamodbEndpoint ?? settings.dataDir ?? 'in memory; set DATA_DIR to keep them',
    docs: hasClientsPage(config.accounts) ? `${base}/docs; clients in a browser: ${base}/cli` : `${base}/docs`,
    keys: `${keys} issue, list or setup CLIENT`,
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
    memberKey
      ? style('dim', `# a first request; the key has ${config.quota.memberLimit} a day, and will not be shown again`)
      : style('dim', '# a first request, with a key that was issued before: only its hash is kept'),
    `KEY=${memberKey ?? 'YOUR_KEY'}`,
    `curl -N ${base}/v1/chat/completions -H "authorization: Bearer $KEY" -H 'content-type: application/json' -d '${JSON.stringify(question)}'`,
    '\n',
  ].join('\n');
}
