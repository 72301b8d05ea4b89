import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { bundleProbe, bundleServer } from '../../lib/bundle.ts';
import { startGatewayProcess } from '../local/gateway-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'gateway-probe-'));
const secret = 'd'.repeat(32);
const hash = createHash('sha256').update(secret).digest('hex');

beforeAll(() => Promise.all([bundleProbe(join(folder, 'probe')), bundleServer(join(folder, 'server'))]));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs bin/probe.ts; resolves to what it printed and its exit code. */
async function runProbe(args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, ['bin/probe.ts', ...args], { env: { PATH: process.env.PATH, ...env } });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out += text;
  });
  const [code] = await once(child, 'close');
  return { out, code };
}

test('dist/probe listens where Lambda says, and reveals the kind of its credentials, never a value', async () => {
  const environment = {
    ...{ PROBE_SECRET_HASH: hash, AWS_LAMBDA_HTTP_ENDPOINT: '127.0.0.1:0' },
    ...{ AWS_ACCESS_KEY_ID: 'ASIAOFTHISTEST', AWS_SECRET_ACCESS_KEY: 'hidden', AWS_SESSION_TOKEN: 'token' },
  };
  await using artifact = await startGatewayProcess(environment, join(folder, 'probe/index.js'));
  const args = ['--base', artifact.url, '--silence', '1', '--throttle', '10'];
  const { out, code } = await runProbe(args, { PROBE_SECRET: secret });
  expect(out).toMatch(/• signing +credentials +temporary, found by \w+; variables: AWS_ACCESS_KEY_ID, AWS_SECRET/);
  // No platform in front of it names the caller.
  expect(out).toMatch(/✘ address +a forged address +X-Forwarded-For names nobody/);
  expect([code, /ASIAOFTHISTEST|hidden|d{32}/.test(out)]).toEqual([1, false]);
});

test('dist/probe does not start without the hash of a secret', async () => {
  const child = spawn(process.execPath, [join(folder, 'probe/index.js')], { env: { PROBE_SECRET_HASH: 'short' } });
  const [code] = await once(child, 'close');
  expect(code).toBe(1);
});

test('dist/server contains no code of the probe', () => {
  const server = readFileSync(join(folder, 'server/index.js'), 'utf8');
  const words = ['x-probe-secret', 'PROBE_SECRET_HASH', 'GET /credentials', 'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE '];
  expect(words.filter((word) => server.includes(word))).toEqual([]);
  expect(readFileSync(join(folder, 'probe/index.js'), 'utf8')).toContain('x-probe-secret');
});
