import { readFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { json } from '../../local/upstream/script.ts';
import { startGatewayProcess } from '../local/gateway-process.ts';
import { startFakeUpstream } from '../support/fake-upstream.ts';
import { runNode } from '../support/run-command.ts';
import { wire } from '../support/wire.ts';

const page = readFileSync('docs/share.md', 'utf8');
const [office = ''] = page.split('## On AWS');

test('the four steps on a machine in the office lead to a colleague’s first answer', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'gateway-office-'));
  const upstream = await startFakeUpstream();
  upstream.otherwise(json(200, wire.chat.answer));
  const [, block = ''] = /```ini\n([^`]+)```/.exec(office) ?? [];
  const written = Object.fromEntries(
    block
      .trim()
      .split('\n')
      .map((line) => line.trim().split('=') as [string, string]),
  );
  expect(Object.keys(written)).toHaveLength(9);
  // What depends on the machine and the upstream.
  const own = {
    ...{ DATA_DIR: folder.path, NETWORK_SALT: 'what openssl prints' },
    ...{ UPSTREAM_BASE_URL: upstream.url, UPSTREAM_API_KEYS: 'upstream-key-one' },
  };
  const environment = { ...written, ...own, UPSTREAM_TEXT_MODEL: 'words' };
  await using gateway = await startGatewayProcess(environment);
  expect(gateway.errors()).toBe('');

  const run = async (command: string) => {
    const words = command.split(' ').slice('npm run keys --'.split(' ').length);
    const { code, out, err } = await runNode('bin/keys.ts', words, { ...environment, PORT: `${gateway.port}` });
    expect([code, err]).toEqual([0, '']);
    return out;
  };
  // The first start's key, of which the page tells.
  const [, member = ''] = /prints a key of the member `(\w+)`/.exec(office) ?? [];
  expect([gateway.key, await run('npm run keys -- list')]).toEqual([
    expect.stringMatching(/^ltk_/),
    expect.stringMatching(new RegExp(`^key_\\S+ +${member || '-'} +issued at the first start`, 'm')),
  ]);
  const [issue = '', setup = ''] = office.match(/npm run keys -- .+/g) ?? [];
  const [key = ''] = /ltk_[\w-]+/.exec(await run(issue)) ?? [];
  const pasted = await run(setup.replace('YOUR_KEY', key));
  for (const text of [key, 'http://office.local:8787']) expect(pasted).toContain(text);

  const ask = (words: string) =>
    fetch(`http://127.0.0.1:${gateway.port}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': words },
      body: JSON.stringify(wire.chat.question),
    });
  expect([(await ask(key)).status, (await ask('guest')).status]).toEqual([200, 401]);
  await upstream.close();
});
