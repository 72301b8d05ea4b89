import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createSnippets } from '../../lambda/accounts/pages/cli/snippets.js';
import type { TestGateway } from '../support/gateway.ts';
import { actAsModel } from '../support/model.ts';
import { outcomesOf, runModule, startScriptedGateway } from './sdk-gateway.ts';

const run = promisify(execFile);
const answer = 'Hello from afar.';

/** Where the libraries are. */
const folder = 'test/sdk/frameworks';

describe('the blocks that people paste', () => {
  let gateway: TestGateway;
  let blockOf: (client: string, title: string) => string;

  beforeAll(async () => {
    if (!existsSync(`${folder}/node_modules`)) throw new Error(`run \`node local/install-apart.ts ${folder}\` first`);
    gateway = await startScriptedGateway();
    const snippets = createSnippets({ gatewayUrl: gateway.url, serviceName: 'svc', key: await gateway.issueKey() });
    blockOf = (client, title) =>
      snippets.find(({ id }) => id === client)?.blocks.find((block) => block.title === title)?.text ?? '';
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  test('curl', async () => {
    gateway.upstream.otherwise(actAsModel({ text: answer }));
    const { stdout } = await run('sh', ['-c', `${blockOf('curl', 'Terminal')} -sS -m 20`]);
    expect(JSON.parse(stdout)).toMatchObject({ model: 'svc', choices: [{ message: { content: answer } }] });
  });

  test.each(['openai', 'anthropic', 'ai-sdk', 'langchain', 'openai-agents'])('%s: one prompt', async (client) => {
    gateway.upstream.otherwise(actAsModel({ text: answer }));
    const script = blockOf(client, 'JavaScript');
    expect(await outcomesOf(gateway, async () => expect(await runModule(script)).toBe(`${answer}\n`))).toEqual([
      'answered',
    ]);
  });
});
