import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { listenLocally } from '../../../local/listen-locally.ts';
import { bearer, startTestWallet, type TestWallet, testAccount } from '../../support/accounts.ts';

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';
const metadata = '/.well-known/oauth-authorization-server';
const run = promisify(execFile);

let wallet: TestWallet;
let time = Date.UTC(2026, 10, 23, 12);
/** Each test has a network and people of its own, and so unused limits. */
let tests = 0;
let address: string;
beforeAll(async () => {
  wallet = await startTestWallet({ now: () => time, sourceIp: () => address });
});
beforeEach(() => {
  tests += 1;
  address = `198.51.100.${tests}`;
});
afterAll(async () => {
  expect(wallet.faults).toEqual([]);
  await wallet[Symbol.asyncDispose]();
});

const terminal = { client_id: 'svc-terminal' };
const begin = async (at = wallet) => (await at.postForm('/oauth/device_authorization', terminal)).body;
const poll = (device_code: string) =>
  wallet.postForm('/oauth/token', { ...terminal, grant_type: deviceGrant, device_code });
const pollError = async (code: string) => (await poll(code)).body.error;

const person = (number = 0) => testAccount(10 * tests + number);
const keysOf = async (number: number) => wallet.keys.list(person(number).address.toLowerCase());

/** Signs in with a wallet, and gives what speaks about a terminal's code from then on. */
async function signIn(number = 0, at = wallet) {
  const message = await at.challenge(person(number), 'terminal');
  const signature = await person(number).signMessage({ message });
  const signed = bearer(await at.post('/cli/sign-in', { message, signature, purpose: 'terminal' }));
  return (what: 'find' | 'approve' | 'deny', code: string) => at.post(`/cli/device/${what}`, { code }, signed);
}

test('a terminal gets codes, waits, and has a key of the person who lets it in', async () => {
  const begun = await wallet.postForm('/oauth/device_authorization', terminal);
  expect(begun.status).toBe(200);
  expect(begun.headers.get('cache-control')).toBe('no-store');
  expect(begun.body).toEqual({
    device_code: expect.stringMatching(/^[\w-]{43}$/),
    user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
    verification_uri: `${wallet.url}/cli/device`,
    expires_in: 600,
    interval: 5,
  });
  const { device_code, user_code } = begun.body;
  const pending = await poll(device_code);
  expect([pending.status, pending.body.error]).toEqual([400, 'authorization_pending']);

  time += 90_000;
  const ask = await signIn();
  expect((await ask('find', user_code.toLowerCase().replace('-', ' '))).body).toEqual({ sameNetwork: true, age: 90 });
  address = '203.0.113.9';
  expect((await ask('find', user_code)).body).toEqual({ sameNetwork: false, age: 90 });
  expect((await ask('approve', user_code)).status).toBe(200);

  const { status, headers, body } = await poll(device_code);
  expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
  expect(body).toEqual({
    access_token: expect.stringMatching(/^ltk_[\w-]{43}$/),
    token_type: 'Bearer',
    expires_in: 30 * 86_400,
  });
  const [record] = await keysOf(0);
  expect(record).toMatchObject({ label: 'terminal', expiresAt: time + 30 * 86_400_000 });
  // Once only.
  expect(await pollError(device_code)).toBe('invalid_grant');

  const stored = JSON.stringify(await wallet.readTables()) + wallet.log.join('');
  for (const secret of [device_code, user_code, user_code.replace('-', ''), body.access_token, address]) {
    expect(stored).not.toContain(secret);
  }
  // Of a user code, a hash without a secret tells as much: there are few of them.
  for (const code of [device_code, user_code, user_code.replace('-', '')]) {
    for (const encoding of ['base64url', 'base64', 'hex'] as const) {
      expect(stored).not.toContain(createHash('sha256').update(code).digest(encoding));
    }
  }
});

test('a code is looked up before anyone signs in, and only those who have may decide', async () => {
  const { user_code, device_code } = await begin();
  const found = await wallet.post('/cli/device/find', { code: user_code });
  expect([found.status, found.body]).toEqual([200, { sameNetwork: true, age: 0 }]);
  expect((await wallet.post('/cli/device/find', { code: 'BBBB-BBBB' })).status).toBe(404);
  for (const decision of ['approve', 'deny']) {
    expect((await wallet.post(`/cli/device/${decision}`, { code: user_code })).status).toBe(401);
  }
  expect(await pollError(device_code)).toBe('authorization_pending');
});

test('whoever is refused, unknown, too late or too fast is told so in the words of OAuth', async () => {
  const ask = await signIn();
  const refused = await begin();
  await ask('deny', refused.user_code);
  expect(await pollError(refused.device_code)).toBe('access_denied');
  expect((await ask('find', refused.user_code)).status).toBe(404);

  expect(await pollError('x'.repeat(43))).toBe('invalid_grant');

  const slow = await begin();
  expect(await pollError(slow.device_code)).toBe('authorization_pending');
  time += 4_000;
  expect(await pollError(slow.device_code)).toBe('slow_down');
  time += 5_000;
  expect(await pollError(slow.device_code)).toBe('authorization_pending');
  time += 600_000;
  expect(await pollError(slow.device_code)).toBe('expired_token');
  expect((await (await signIn())('find', slow.user_code)).status).toBe(404);
});

test('a person who has five keys is told so, and so is the terminal whose place was taken meanwhile', async () => {
  const ask = await signIn();
  const session = bearer(await wallet.sign(person(), 'manage'));
  const issue = async () => expect((await wallet.post('/cli/keys/issue', {}, session)).status).toBe(200);
  for (let count = 0; count < 4; count += 1) await issue();
  const { device_code, user_code } = await begin();
  expect((await ask('approve', user_code)).status).toBe(200);
  await issue();
  expect((await poll(device_code)).body).toMatchObject({
    error: 'access_denied',
    error_description: expect.stringContaining('5 keys'),
  });
  expect((await ask('approve', (await begin()).user_code)).body.error.code).toBe('too_many_keys');
});

test('a request that is not as it should be says which field, and mends nothing', async () => {
  const good = { ...terminal, grant_type: deviceGrant, device_code: 'x' };
  const cases: readonly [fields: Record<string, string> | string, error: string, words: RegExp, type?: string][] = [
    [{ ...good, client_id: 'another' }, 'invalid_client', /client_id must be svc-terminal/],
    [{ ...good, client_id: '' }, 'invalid_request', /client_id is missing/],
    [{ ...good, grant_type: 'authorization_code' }, 'unsupported_grant_type', /grant_type must be urn:/],
    [{ ...good, device_code: '' }, 'invalid_request', /device_code is missing/],
    [`${new URLSearchParams(good)}&client_id=svc-terminal`, 'invalid_request', /client_id is there more than once/],
    [JSON.stringify(good), 'invalid_request', /x-www-form-urlencoded/, 'application/json'],
  ];
  for (const [fields, error, words, type] of cases) {
    const answer = await wallet.postForm('/oauth/token', fields, type ? { 'content-type': type } : {});
    expect([answer.status, answer.body]).toEqual([400, { error, error_description: expect.stringMatching(words) }]);
  }
  for (const path of ['/oauth/device_authorization', '/oauth/token']) {
    const got = await fetch(wallet.url + path);
    const refused = { error: 'invalid_request', error_description: 'This path takes POST only.' };
    expect([got.status, await got.json()]).toEqual([405, refused]);
  }
  // Another site's page can't start a terminal for its visitor.
  const foreign = await wallet.postForm('/oauth/device_authorization', good, { origin: 'https://evil.example' });
  expect([foreign.status, foreign.body.error]).toEqual([403, 'invalid_request']);
});

describe('codes can’t be guessed or used twice', () => {
  test('ten wrong ones a network and ten minutes, however many at once', async () => {
    const ask = (_: 'find', code: string) => wallet.post('/cli/device/find', { code });
    const { user_code } = await begin();
    const wrong = user_code.startsWith('B') ? 'CCCC-CCCC' : 'BBBB-BBBB';
    // A right one is not counted.
    expect((await ask('find', user_code)).status).toBe(200);
    const statuses = await Promise.all(Array.from({ length: 14 }, async () => (await ask('find', wrong)).status));
    expect(statuses.filter((status) => status === 404)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(4);
    expect((await ask('find', user_code)).status).toBe(429);
    time += 600_000;
    expect((await ask('find', (await begin()).user_code)).status).toBe(200);
  });

  test('five looks a code', async () => {
    const ask = await signIn();
    const { user_code } = await begin();
    for (let look = 0; look < 5; look += 1) expect((await ask('find', user_code)).status).toBe(200);
    expect((await ask('approve', user_code)).status).toBe(404);
  });

  test('twenty terminals a network and hour', async () => {
    time = Math.ceil(time / 3_600_000) * 3_600_000;
    for (let count = 0; count < 20; count += 1) await begin();
    const { status, headers, body } = await wallet.postForm('/oauth/device_authorization', terminal);
    expect([status, body.error, headers.get('retry-after')]).toEqual([429, 'slow_down', '3600']);
    address = '203.0.113.9';
    expect((await begin()).user_code).toMatch(/-/);
  });

  test('of two people who let it in at once, one does; of many polls, one gets the key', async () => {
    const people = await Promise.all([signIn(0), signIn(1)]);
    const { device_code, user_code } = await begin();
    const approvals = await Promise.all(people.map((ask) => ask('approve', user_code)));
    expect(approvals.map(({ status }) => status).toSorted()).toEqual([200, 404]);
    const polls = await Promise.all(Array.from({ length: 8 }, () => poll(device_code)));
    expect(polls.filter(({ status }) => status === 200)).toHaveLength(1);
    const keys = await Promise.all([0, 1].map(keysOf));
    expect(keys.flat()).toHaveLength(1);
  });

  test('an approval that comes too late counts against no limit', async () => {
    let looks = 0;
    const bothLook = Promise.withResolvers<void>();
    await using other = await startTestWallet({
      ...{ now: () => time, sourceIp: () => address },
      spoilStore({ body }) {
        if (!body.includes('ADD tries') || ++looks > 2) return undefined;
        if (looks === 2) bothLook.resolve();
        return bothLook.promise;
      },
    });
    const people = await Promise.all([signIn(0, other), signIn(1, other)]);
    const { user_code } = await begin(other);
    const approvals = await Promise.all(people.map((ask) => ask('approve', user_code)));
    const late = people[approvals.findIndex(({ status }) => status === 404)];
    const approveAnother = async () => (await late?.('approve', (await begin(other)).user_code))?.status;
    for (let count = 0; count < 10; count += 1) expect(await approveAnother()).toBe(200);
    expect(await approveAnother()).toBe(429);
  });
});

test('what a wallet signed for one purpose serves no other', async () => {
  const account = person();
  const sessionFor = async (purpose: string, path: string) => {
    const message = await wallet.challenge(account, purpose);
    const signature = await account.signMessage({ message });
    return bearer(await wallet.post(path, { message, signature, purpose }));
  };
  const begun = await begin();
  const [linked, managed, terminal] = [
    await sessionFor('link', '/cli/link'),
    await sessionFor('manage', '/cli/sign-in'),
    await sessionFor('terminal', '/cli/sign-in'),
  ];
  for (const other of [linked, managed]) {
    for (const act of ['approve', 'deny']) {
      expect((await wallet.post(`/cli/device/${act}`, { code: begun.user_code }, other)).status).toBe(401);
    }
    expect((await wallet.post('/cli/keys', {}, other)).status).toBe(200);
  }
  for (const path of ['keys', 'keys/issue', 'keys/revoke', 'network']) {
    expect((await wallet.post(`/cli/${path}`, { id: 'x' }, terminal)).status).toBe(401);
  }
  expect((await wallet.post('/cli/device/approve', { code: begun.user_code }, terminal)).status).toBe(200);
});

test('no page of another host gets a message for its visitor’s wallet, without APP_URL', async () => {
  const challenge = async (url: string) => {
    const type = ['-H', 'host: evil.example', '-H', 'content-type: application/json'];
    const sent = JSON.stringify({ address: `0x${'a'.repeat(40)}` });
    return JSON.parse((await run('curl', ['-s', ...type, '-d', sent, `${url}/cli/challenge`])).stdout);
  };
  const message = expect.stringMatching(/own address first/);
  expect(await challenge(wallet.url)).toMatchObject({ error: { code: 'not_found', message } });
  await using named = await startTestWallet({ environment: { APP_URL: 'https://app.example' } });
  expect((await challenge(named.url)).message).toMatch(/^app\.example wants you/);
});

test('terminals are sent to APP_URL, and never to the Host that was called', async () => {
  let { url } = wallet;
  const hostile = (path: string, ...words: string[]) =>
    run('curl', ['-s', '-H', 'host: evil.example', ...words, url + path]).then(({ stdout }) => stdout);
  for (const path of ['/cli/device', '/cli/login.sh', metadata, '/.well-known/opencode']) {
    expect(JSON.parse(await hostile(path))).toMatchObject({ error: { code: 'not_found' } });
  }
  for (const path of ['/oauth/device_authorization', '/oauth/token']) {
    const refused = { error: 'invalid_request', error_description: expect.stringMatching(/own address first/) };
    expect(JSON.parse(await hostile(path, '-d', 'client_id=svc-terminal'))).toEqual(refused);
  }
  await using named = await startTestWallet({ environment: { APP_URL: 'https://app.example' } });
  url = named.url;
  expect(JSON.parse(await hostile(metadata))).toEqual({
    issuer: 'https://app.example',
    device_authorization_endpoint: 'https://app.example/oauth/device_authorization',
    token_endpoint: 'https://app.example/oauth/token',
    grant_types_supported: [deviceGrant],
    response_types_supported: [],
    token_endpoint_auth_methods_supported: ['none'],
  });
  const begun = await hostile('/oauth/device_authorization', '-d', 'client_id=svc-terminal');
  expect(JSON.parse(begun).verification_uri).toBe('https://app.example/cli/device');
  const opencode = JSON.parse(await hostile('/.well-known/opencode'));
  expect(opencode.auth).toEqual({
    command: ['sh', '-c', 'curl -fsS https://app.example/cli/login.sh | sh'],
    env: 'SVC_API_KEY',
  });
  expect(JSON.stringify(opencode.config)).toContain('"apiKey":"{env:SVC_API_KEY}"');
  const script = await hostile('/cli/login.sh');
  expect(script).toContain("app='https://app.example'");
  expect(script).not.toContain('evil');
  expect(script.trimEnd().split('\n').length).toBeLessThanOrEqual(60);
});

describe('login.sh', () => {
  let home: string;
  let script: string;
  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'terminal-'));
    script = join(home, 'login.sh');
    writeFileSync(script, await (await fetch(`${wallet.url}/cli/login.sh`)).text());
    // Pauses that the test need not wait for.
    writeFileSync(join(home, 'sleep'), '#!/bin/sh\n', { mode: 0o755 });
  });
  afterEach(() => rmSync(home, { recursive: true }));

  const environment = () => ({ PATH: `${home}:${process.env.PATH}`, HOME: '/nowhere', XDG_CONFIG_HOME: home });
  const runAsHelper = () => {
    const child = spawn('sh', [script], { env: environment(), stdio: ['ignore', 'pipe', 'pipe'] });
    return Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit').then(([code]) => code)]);
  };

  test('gives its key within the five seconds that Codex allows, even if the gateway does not answer', async () => {
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

  test('in a terminal shows the code, waits for a person, keeps the key for its user alone, and prints it', async () => {
    const ask = await signIn();
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
      expect((await ask('approve', code)).status).toBe(200);
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
});
