import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { listenLocally } from '../../../local/listen-locally.ts';
import { bearer, startTestWallet, type TestWallet, testAccount } from '../../support/accounts.ts';

const run = promisify(execFile);

let wallet: TestWallet;
beforeAll(async () => {
  wallet = await startTestWallet();
});
afterAll(async () => {
  expect(wallet.faults).toEqual([]);
  await wallet[Symbol.asyncDispose]();
});

let home: string;
let script: string;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'terminal-'));
  script = join(home, 'login.sh');
  writeFileSync(script, await (await fetch(`${wallet.url}/cli/login.sh`)).text());
  // Skips the pauses.
  writeFileSync(join(home, 'sleep'), '#!/bin/sh\n', { mode: 0o755 });
});
afterEach(() => rmSync(home, { recursive: true }));

const environment = () => ({ PATH: `${home}:${process.env.PATH}`, HOME: '/nowhere', XDG_CONFIG_HOME: home });
const runAsHelper = () => {
  const child = spawn('sh', [script], { env: environment(), stdio: ['ignore', 'pipe', 'pipe'] });
  return Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit').then(([code]) => code)]);
};

test('prints its key within the five seconds that Codex allows, even if the gateway does not respond', async () => {
  const silent = await listenLocally(createServer(() => {}));
  await using other = await startTestWallet({ environment: { GATEWAY_URL: silent.url } });
  writeFileSync(script, await (await fetch(`${other.url}/cli/login.sh`)).text());
  mkdirSync(join(home, 'svc'));
  // Of another gateway with the same name, which this one must not see.
  writeFileSync(join(home, 'svc/key'), 'ltk_of_another\n');
  writeFileSync(join(home, `svc/key-${new URL(silent.url).host}`), 'ltk_kept\n');
  const given = await run('sh', [script], { env: environment(), timeout: 5_000 });
  expect(given).toEqual({ stdout: 'ltk_kept\n', stderr: '' });
  await silent.close();
});

test('without a terminal and without a key says one sentence and ends', async () => {
  const words = `No key that works yet: run this in a terminal first: curl -fsS ${wallet.url}/cli/login.sh | sh\n`;
  expect(await runAsHelper()).toEqual(['', words, 1]);
});

test('says before sign-in if the key could not be stored', async () => {
  const child = spawn('script', ['-qec', `sh ${script}`, '/dev/null'], {
    env: { ...environment(), XDG_CONFIG_HOME: '/dev/null' },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 10_000, // or it would wait for a person
  });
  const ended = once(child, 'exit');
  const shown = await text(child.stdout);
  expect(shown).toContain('/dev/null');
  expect(shown).not.toContain('Type');
  expect(await ended).toEqual([1, null]);
});

test('shows the code in a terminal, waits for approval, stores the key for its user only, and prints it', async () => {
  const signed = bearer(await wallet.sign(testAccount(1), 'terminal'));
  const out = join(home, 'out');
  const seen = join(home, 'arguments');
  const curl = `#!/bin/sh\nprintf '%s\\n' "$@" >>${seen}\nPATH=\${PATH#*:} exec curl "$@"\n`;
  writeFileSync(join(home, 'curl'), curl, { mode: 0o755 });
  // `script` gives it a terminal, as a person's shell would.
  const child = spawn('script', ['-qec', `sh ${script} >${out}`, '/dev/null'], {
    env: environment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let shown = '';
  let approved = false;
  for await (const piece of child.stdout) {
    shown += piece;
    const code = /Type {2}(\S+)\s/.exec(shown)?.[1];
    if (code === undefined || approved) continue;
    approved = true;
    expect((await wallet.post('/cli/device/approve', { code }, signed)).status).toBe(200);
  }
  expect(shown).toContain(`Open  ${wallet.url}/cli/device`);
  const key = readFileSync(out, 'utf8').trim();
  expect(key).toMatch(/^ltk_/);
  expect(shown).not.toContain(key);
  const file = join(home, `svc/key-${new URL(wallet.url).host}`);
  expect([readFileSync(file, 'utf8').trim(), statSync(file).mode & 0o777]).toEqual([key, 0o600]);
  // From then on it serves a client's helper, which has no terminal.
  expect(await runAsHelper()).toEqual([`${key}\n`, '', 0]);
  // Neither the key nor the device code, which is as good as the key, was in the list of processes.
  const seenByOthers = readFileSync(seen, 'utf8');
  expect(seenByOthers).toContain('/oauth/token');
  expect(seenByOthers).not.toMatch(/[\w-]{43}/);
});
