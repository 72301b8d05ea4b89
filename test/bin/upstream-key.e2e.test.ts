import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { fingerprint } from '../../operator/upstream-key/members.ts';
import { type DeployedStack, startDeployedStack } from '../support/deployed-stack.ts';
import { runNode } from '../support/run-command.ts';
import { startVersionedSecret } from '../support/versioned-secret.ts';

// Each command is a whole process, of which a busy machine starts one a second or two.
jest.setTimeout(60_000);

const [old, fresh] = ['sk-the-old-one', 'sk-the-new-one'];
const others = {
  UPSTREAM_2_API_KEYS: 'sk-the-second',
  UPSTREAM_HEADERS: { 'x-proof': 's3cret' },
  UPSTREM_API_KEYS: 'slip',
};
const folder = mkdtempSync(join(tmpdir(), 'upstream-key-'));
let secret: Awaited<ReturnType<typeof startVersionedSecret>>;
let stack: DeployedStack;
beforeAll(async () => {
  stack = await startDeployedStack({ UpstreamSecret: 'the-upstream-secret' });
  secret = await startVersionedSecret('the-upstream-secret', JSON.stringify({ UPSTREAM_API_KEYS: old, ...others }));
});
afterAll(async () => {
  await secret[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const run = (words: readonly string[], input = '') =>
  runNode(
    'bin/upstream-key.ts',
    [...words, '--stack', 'Gateway', '--region', 'eu-west-3'],
    { ...stack.environment, AWS_ENDPOINT_URL_SECRETS_MANAGER: secret.url },
    input,
  );

test('a leaked key is replaced by another, all else stays, and no key is ever printed', async () => {
  const added = await run(['add'], `${fresh}\n`);
  expect(added).toEqual({
    code: 0,
    err: '',
    out:
      `Added ${fingerprint(fresh)}. UPSTREAM_API_KEYS holds 2 keys: ${fingerprint(old)}, ${fingerprint(fresh)}. ` +
      'The gateway reads it within a minute.\n',
  });
  const removed = await run(['remove', 'UPSTREAM_API_KEYS', fingerprint(old)]);
  expect(removed).toMatchObject({
    code: 0,
    err: '',
    out: expect.stringMatching(/ Then revoke it at the upstream\.\n$/),
  });
  expect(JSON.parse(secret.current() ?? '')).toEqual({ UPSTREAM_API_KEYS: fresh, ...others });

  const listed = await run(['list']);
  expect(
    listed.out
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/)),
  ).toEqual([
    ['MEMBER', 'HOLDS', 'WHICH'],
    ['UPSTREAM_API_KEYS', '1 key', fingerprint(fresh)],
    ['UPSTREAM_2_API_KEYS', '1 key', fingerprint('sk-the-second')],
    ['UPSTREAM_HEADERS', '1 header', 'x-proof'],
    ['UPSTREM_API_KEYS', 'not read by the gateway'],
  ]);
  const said = [added, removed, listed].map(({ out, err }) => out + err).join('');
  expect(said).not.toMatch(/sk-the|s3cret|slip/);
  const { members } = JSON.parse((await run(['list', '--json'])).out);
  expect(members[0]).toEqual({ member: 'UPSTREAM_API_KEYS', one: 'key', parts: [fingerprint(fresh)] });
});

test('the last key of an upstream may go, and what that means is said', async () => {
  const { out } = await run(['remove', 'UPSTREAM_2_API_KEYS']);
  expect(out).toContain('UPSTREAM_2_API_KEYS holds none: without one its upstream is not used.');
});

test('the file of a host says what to restart', async () => {
  const file = join(folder, 'gateway.env');
  writeFileSync(file, `PORT=8787\nUPSTREAM_API_KEYS=${old}\n`);
  const { code, out, err } = await runNode('bin/upstream-key.ts', ['add', '--file', file], {}, fresh);
  expect([code, err, out]).toEqual([
    0,
    '',
    expect.stringContaining("restart each process, such as with systemctl restart 'gateway@*'"),
  ]);
  expect(readFileSync(file, 'utf8')).toBe(`PORT=8787\nUPSTREAM_API_KEYS=${old},${fresh}\n`);
});

test.each<[what: string, words: readonly string[], code: number, said: RegExp]>([
  ['no place', ['add'], 2, /^error: pass --stack, or --file for a host/],
  ['two places', ['list', '--stack', 'A', '--file', 'b'], 2, /^error: pass --stack, or --file/],
  [
    'a region without a stack',
    ['list', '--file', 'b', '--region', 'eu-west-3'],
    2,
    /^error: --region belongs to --stack/,
  ],
  [
    'a key in place of a member',
    ['add', 'sk-a', '--file', 'b'],
    1,
    /^error: the list must be UPSTREAM_API_KEYS (?!.*sk-a).* a key comes on standard input, never as a word\n$/,
  ],
  ['no file', ['list', '--file', '/none'], 1, /^error: \/none can't be read: ENOENT/],
])('%s is told in a line', async (_what, words, code, said) => {
  const ended = await runNode('bin/upstream-key.ts', words, {});
  expect(ended).toMatchObject({ code, out: '', err: expect.stringMatching(said) });
});

test('a stack whose upstreams take no keys is told', async () => {
  await using other = await startDeployedStack();
  await expect(other.run('upstream-key', ['list'])).rejects.toThrow(
    'Gateway has no secret for keys: with UPSTREAM_AUTH aws its upstreams need none',
  );
});

/** Runs it in a terminal, and types once it asks. */
async function inTerminal(file: string, typed: string) {
  const command = `'${process.execPath}' bin/upstream-key.ts add --file '${file}'`;
  const words = process.platform === 'darwin' ? ['/dev/null', 'sh', '-c', command] : ['-ec', command, '/dev/null'];
  const child = spawn('script', ['-q', ...words], { stdio: ['pipe', 'pipe', 'inherit'] });
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const asked = shown.includes('not shown: ');
    shown += text;
    if (!asked && shown.includes('not shown: ')) child.stdin.write(typed);
  });
  const [code] = await once(child, 'close');
  return { code, shown };
}

test('in a terminal it asks, and does not show what is typed; Ctrl-C changes nothing', async () => {
  const file = join(folder, 'terminal.env');
  writeFileSync(file, 'PORT=8787\n');
  const left = await inTerminal(file, 'sk-half\u0003');
  expect([left.code, left.shown]).toEqual([
    1,
    expect.stringContaining('error: nothing was read, so nothing was changed'),
  ]);
  expect(readFileSync(file, 'utf8')).toBe('PORT=8787\n');
  const { code, shown } = await inTerminal(file, `${fresh}\r`);
  expect([code, shown]).toEqual([0, expect.stringContaining(`Added ${fingerprint(fresh)}.`)]);
  expect(left.shown + shown).not.toMatch(/sk-/);
  expect(readFileSync(file, 'utf8')).toBe(`PORT=8787\nUPSTREAM_API_KEYS=${fresh}\n`);
});
