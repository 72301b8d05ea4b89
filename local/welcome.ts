import { styleText } from 'node:util';
import { defaultPort, reachableUrl } from './local-settings.ts';
import type { LocalGateway } from './start.ts';

/** The text shown when the gateway is up: its address, and commands to paste. */
export function renderWelcome(gateway: LocalGateway): string {
  const { settings, port, memberKey } = gateway;
  const { access, memberLimit, guestLimit, serviceName } = gateway.config;
  const base = reachableUrl(settings.host, port);
  // Anything that is not an issued key is a guest's placeholder.
  const key = memberKey ?? 'YOUR_KEY';
  const keys = `${port === defaultPort ? '' : `PORT=${port} `}npm run keys --`;
  const chat = { model: serviceName, messages: [{ role: 'user', content: 'Tell me a short story.' }] };

  const get = (path: string, header: string) => `${base}${path} -H '${header}'`;
  const post = (path: string, header: string, body: object) =>
    `${get(path, header)} -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
  const messages = `anthropic-version: 2023-06-01' -H 'x-api-key: ${key}`;

  const { demoDialects } = settings;
  const spoken = demoDialects ? `, which speaks only ${demoDialects.join(' and ')}: the rest is translated` : '';
  const facts = {
    upstream: gateway.upstreamHost ?? `the built-in demo${spoken}; set UPSTREAM_BASE_URL for a real one`,
    tables: settings.dynamodbEndpoint ?? settings.dataDir ?? 'in memory; set DATA_DIR to keep them',
    'member key': memberKey
      ? `${memberKey} (${memberLimit} requests a day; it will not be shown again)`
      : `issued before; only hashes are stored, so it can't be shown again: ${keys} issue`,
    ...(settings.demoOidc && {
      company: `made up; at ${base}/cli \`ada\` can sign in and \`mallory\` is kept out, with any password`,
    }),
  };
  const commands = {
    'the models, with the quota left in the headers': `curl -i ${get('/v1/models', `x-api-key: ${key}`)}`,
    'a chat completion': `curl ${post('/v1/chat/completions', `authorization: Bearer ${key}`, chat)}`,
    'the same as a stream': `curl -N ${post('/v1/chat/completions', `authorization: Bearer ${key}`, { ...chat, stream: true })}`,
    'the responses dialect': `curl ${post('/v1/responses', `authorization: Bearer ${key}`, { model: serviceName, input: 'Say hello.' })}`,
    'the messages dialect': `curl ${post('/v1/messages', messages, { ...chat, max_tokens: 256 })}`,
    'counting tokens, free of charge': `curl ${post('/v1/messages/count_tokens', messages, chat)}`,
    ...(guestLimit > 0 && {
      [`a guest: any placeholder as the key, ${guestLimit} requests`]: `curl ${post('/v1/chat/completions', 'x-api-key: guest', chat)}`,
    }),
    'what it is and how to use it, in a browser': `${base}/`,
    ...(access === 'open' && { 'a key for your wallet, in a browser': `${base}/cli` }),
    'another key, and all of them': `${keys} issue --label laptop\n${keys} list`,
  };

  const style = (format: 'bold' | 'dim' | 'cyan', text: string) => styleText(format, text, { stream: process.stdout });
  return [
    ...Object.entries(facts).map(([name, fact]) => `${style('dim', name.padEnd(10))}  ${fact}`),
    '',
    `listening on ${style('bold', gateway.url)}`,
    ...Object.entries(commands).map(([title, command]) => `\n${style('dim', `# ${title}`)}\n${command}`),
    '\n',
  ].join('\n');
}
