import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startRoomyDemoGateway } from '../sdk/sdk-gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { type CodeBlock, readBlocks } from './markdown.ts';
import { shapeOf } from './shape.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/api.md'), 'utf8');
const blocks = readBlocks(page);
const run = promisify(execFile);

describe('the examples of docs/api.md', () => {
  let gateway: TestGateway;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    await run('curl', ['--version']).catch((cause: unknown) => {
      throw new Error('curl is missing: the examples of docs/api.md are run with it', { cause });
    });
    gateway = await startRoomyDemoGateway();
    env = { PATH: process.env.PATH, BASE: gateway.url, KEY: await gateway.issueKey() };
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  /** Runs a block, in which every request has to succeed, and returns what it printed. */
  async function runBlock({ code }: CodeBlock): Promise<string> {
    const before = gateway.log.length;
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', code], { env, timeout: 20_000 });
    expect(gateway.log.slice(before).filter(({ message }) => message !== 'answered')).toEqual([]);
    expect(stdout).not.toMatch(/"error":\{|x-svc-error/i);
    expect(stdout.trim()).not.toBe('');
    return stdout;
  }

  const runnable = blocks.filter(({ language }) => language === 'bash');
  test.each(runnable.map((block, index) => ({ index, block, heading: block.heading })))(
    '$index: $heading',
    async ({ block }) => {
      const output = await runBlock(block);
      const shown = blocks.find(({ follows }) => follows === block);
      if (shown?.language === 'json') {
        expect(shapeOf(JSON.parse(output))).toEqual(expect.arrayContaining(shapeOf(JSON.parse(shown.code))));
      } else if (shown?.language === 'text') {
        const events = [...shown.code.matchAll(/^(event: .*|data: \[DONE\])$/gm)].map(([line]) => line);
        expect(events).not.toEqual([]);
        expect(output.split('\n')).toEqual(expect.arrayContaining(events));
      }
    },
  );

  test('are all there', () => {
    expect(runnable.length).toBeGreaterThan(8);
    for (const { language } of blocks) expect(['bash', 'json', 'text']).toContain(language);
  });
});
