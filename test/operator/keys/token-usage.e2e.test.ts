import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { type GatewayProcess, startGatewayProcess } from '../../local/gateway-process.ts';
import { answer, startFakeService } from '../../support/fake-service.ts';

// Each command is a process, which takes a busy machine some seconds to start.
jest.setTimeout(120_000);

// The temporary directory is the test's own, and so are the files that the gateway leaves for the commands.
const TMPDIR = mkdtempSync(join(tmpdir(), 'token-usage-'));
afterAll(() => rmSync(TMPDIR, { recursive: true }));

const usage = {
  prompt_tokens: 100_512,
  completion_tokens: 40,
  prompt_tokens_details: { cached_tokens: 100_000, cache_write_tokens: 500 },
  completion_tokens_details: { reasoning_tokens: 30 },
};
const completion = (more: object) => ({
  ...{ id: 'a', object: 'chat.completion', created: 1, model: 'words' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  ...more,
});

let gateway: GatewayProcess;
const stopping = new AsyncDisposableStack();
beforeAll(async () => {
  const upstream = stopping.use(
    await startFakeService(
      answer(200, completion({ usage })),
      answer(200, completion({ usage })),
      answer(200, completion({})),
      answer(200, completion({ usage: { prompt_tokens: 7, completion_tokens: 1 } })),
    ),
  );
  gateway = stopping.use(
    await startGatewayProcess({
      ...{ TMPDIR, UPSTREAM_BASE_URL: `${upstream.url}/v1`, UPSTREAM_API_KEYS: 'key' },
      ...{ UPSTREAM_TEXT_MODEL: 'words', UPSTREAM_VISION_MODEL: 'eyes' },
    }),
  );
});
afterAll(() => stopping.disposeAsync());

async function keys(...args: readonly string[]): Promise<string> {
  const env = { PATH: process.env.PATH, TMPDIR, PORT: `${gateway.port}` };
  const { stdout } = await promisify(execFile)(process.execPath, ['bin/keys.ts', ...args], { env });
  return stdout;
}

async function ask(key: string): Promise<void> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify({ model: 'svc', messages: [{ role: 'user', content: 'a secret prompt' }] }),
  });
  expect(response.status).toBe(200);
  await response.text();
}

test('shows the tokens and costs of a running gateway by key and by member, with their names', async () => {
  const wallet = '0x52908400098527886E0F7030069857D2E4169EE7';
  const issue = async (member: string) => JSON.parse(await keys('issue', '--member', member, '--json'));
  const [first, second] = [await issue(wallet), await issue(wallet)];
  await ask(first.key);
  await ask(first.key);
  await ask(second.key);
  await ask('guest');
  // A line may be written after its answer.
  await gateway.says(/"usage":"absent"/);
  await gateway.says(/"inputTokens":7,/);

  const price = ['--price', '3,15,0.3,3.75'];
  const report = JSON.parse(await keys('usage', '--tokens', '--days', '1', ...price, '--json'));
  // 12 fresh tokens at 3, 100,000 from the cache at 0.3, 500 written there at 3.75 and 40 at 15, twice.
  const cost = (2 * (12 * 3 + 100_000 * 0.3 + 500 * 3.75 + 40 * 15)) / 1e6;
  const heavy = { input: 201_024, cacheRead: 200_000, cacheWrite: 1_000, output: 80, reasoning: 60, cost };
  const none = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0, cost: 0 };
  expect(report.keys).toMatchObject([
    { key: first.id, member: wallet, answers: 2, withoutUsage: 0, ...heavy },
    { key: null, member: null, memberHash: null, answers: 1, withoutUsage: 0, input: 7, output: 1 },
    { key: second.id, member: wallet, answers: 1, withoutUsage: 1, ...none },
  ]);
  expect(report.members).toMatchObject([{ member: wallet, answers: 3, withoutUsage: 1, ...heavy }, { member: null }]);
  expect(report.total).toMatchObject({ answers: 4, withoutUsage: 1, input: 201_031, output: 81 });
  expect(report.note).toMatch(/^The running gateway's log begins at 20/);

  const text = await keys('usage', '--tokens', ...price);
  const lines = text.split('\n').map((line) => line.split(/ {2,}/));
  const figures = ['2', '0', '201024', '200000', '1000', '80', '60', '$0.0650'];
  expect(lines).toContainEqual([first.id, '', wallet, ...figures].filter((cell) => cell !== ''));
  expect(text).toContain('4 answers from ');
  expect(text).toContain('1 of them did not report their tokens.');
  expect(await keys('usage', '--tokens')).not.toContain('$');
});

test('the copy of the log has no members or prompts, is readable only by its owner, and is removed with the gateway', async () => {
  const [directory = ''] = readdirSync(TMPDIR)
    .filter((name) => name.startsWith('private-inference-gateway-'))
    .map((name) => join(TMPDIR, name));
  const logs = () => readdirSync(directory).filter((name) => name.startsWith('log-'));
  expect(logs()).toHaveLength(1);
  expect(statSync(join(directory, logs()[0] ?? '')).mode & 0o777).toBe(0o600);
  expect(gateway.output()).not.toContain('0x5290');
  expect(gateway.output()).not.toContain('a secret prompt');
  gateway.signal('SIGTERM');
  await gateway.ended;
  expect(existsSync(directory)).toBe(true);
  expect(logs()).toEqual([]);
});
