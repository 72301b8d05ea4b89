import { stripVTControlCharacters } from 'node:util';
import { expect, test } from '@jest/globals';
import { testRows } from '../support/test-rows.ts';
import { type GatewayProcess, spawnGateway, startGatewayProcess, startInTerminal } from './gateway-process.ts';

const post = async ({ url }: GatewayProcess, key: string, path = '/v1/chat/completions') => {
  const body = JSON.stringify({ model: 'svc', messages: [{ role: 'user', content: 'Hello' }] });
  const response = await fetch(url + path, { method: 'POST', headers: { 'x-api-key': key }, body });
  await response.text();
  return response.status;
};
/** The first lines of the log, which come after the welcome. */
async function logOf(gateway: GatewayProcess, count: number): Promise<string[]> {
  await gateway.says(new RegExp(`\\ncurl .*\\n\\n(.*\\n){${count}}`));
  return gateway.output().trimEnd().split('\n').slice(-count);
}

test('the log in a terminal is a coloured line for each request, which names the caller and no key', async () => {
  await using gateway = await startInTerminal();
  const { key } = gateway;
  expect(await post(gateway, key)).toBe(200);
  expect(await post(gateway, 'guest')).toBe(200);
  expect(await post(gateway, key, `/v1/${key}/completions`)).toBe(404);
  const lines = await logOf(gateway, 3);
  expect(lines.map(stripVTControlCharacters)).toEqual([
    expect.stringMatching(
      /^\d\d:\d\d:\d\d {2}POST \/v1\/chat\/completions {7}key_[\w-]{12} {2}200 {2,}\d+ ms {2}\d+ in, \d+ out$/,
    ),
    expect.stringMatching(/^[\d:]{8} {2}POST \/v1\/chat\/completions {7}guest {13}200 .* out$/),
    expect.stringMatching(/^[\d:]{8} {2}POST \/v1\/ltk_…\/completions {6}- {17}404 .* not_found$/),
  ]);
  expect(lines[0]).toContain('\u001b[32m200\u001b[39m');
  expect(lines[2]).toContain('\u001b[33m404\u001b[39m');
  expect(lines.join('\n')).not.toContain(key);
});

test('NO_COLOR turns colours off, and LOG_FORMAT=json writes in a terminal what a deployment writes', async () => {
  await using gateway = await startInTerminal({ NO_COLOR: '1', LOG_FORMAT: 'json', PRICE: 'low' });
  // Where both meet, a warning must not stand below what people read last.
  expect(gateway.output()).toMatch(/^warning: PRICE .*\nlistening on /);
  await post(gateway, 'guest');
  const [line = ''] = await logOf(gateway, 1);
  expect(JSON.parse(line)).toMatchObject({ message: 'answered', caller: 'guest', status: 200 });
  expect(gateway.output()).not.toContain('\u001b');
});

test('the first lines name every upstream, by host alone', async () => {
  const upstream = (prefix: string, host: string) => ({
    [`${prefix}_BASE_URL`]: `https://${host}/a/path/v1`,
    [`${prefix}_API_KEYS`]: `key-of-${host}`,
    [`${prefix}_TEXT_MODEL`]: 'a-model',
  });
  const first = upstream('UPSTREAM', 'first.invalid');
  await using gateway = await startGatewayProcess({ ...first, ...upstream('UPSTREAM_2', 'second.invalid') });
  expect(gateway.output()).toContain('\nupstream  first.invalid, then second.invalid\n');
});

test('in a pipe the log is JSON, and an output that ends while it stops changes nothing', async () => {
  await using gateway = await startGatewayProcess();
  await post(gateway, 'guest');
  const [line = ''] = await logOf(gateway, 1);
  expect(JSON.parse(line)).toMatchObject({ message: 'answered', caller: 'guest', status: 200 });
  gateway.closeOutput();
  gateway.signal('SIGINT');
  expect(await gateway.ended).toBe(0);
  expect(gateway.errors()).toBe('');
});

test('LOG_FORMAT=text writes lines in a pipe, ENGINE=function-url the same, and the end of their reader ends it in good order', async () => {
  await using gateway = await startGatewayProcess({ ENGINE: 'function-url', LOG_FORMAT: 'text' });
  await post(gateway, 'guest');
  expect(await logOf(gateway, 1)).toEqual([expect.stringMatching(/^[\d:]{8} {2}POST .* guest .* 200 /)]);
  gateway.closeOutput();
  expect(await post(gateway, 'guest')).toBe(200);
  expect(await gateway.ended).toBe(0);
  expect(gateway.errors()).toMatch(/^stdout was closed: stopping; .*\n$/);
});

testRows(['web', 'function-url'])(
  'it ends in good order if nobody reads even the first line of its start',
  async (engine) => {
    await using gateway = spawnGateway({ ENGINE: engine, DEPLOYED_COMMIT: 'a1b2c3d' });
    gateway.closeOutput();
    expect(await gateway.ended).toBe(0);
    expect(gateway.errors()).toMatch(/^stdout was closed: stopping; .*\n$/);
  },
);
