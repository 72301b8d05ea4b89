import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createSnippets } from '../../lambda/accounts/pages/cli/snippets.js';
import { readBlocks } from '../docs/markdown.ts';
import type { TestGateway } from '../support/gateway.ts';
import { actAsModel } from '../support/model.ts';
import { outcomesOf, runModule, startRoomyDemoGateway, startScriptedGateway } from './sdk-gateway.ts';

const run = promisify(execFile);
const answer = 'Hello from afar.';

/** Where the libraries are installed. */
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

describe('the blocks of embeddings', () => {
  let blocks: string[];
  let gateway: TestGateway;

  beforeAll(async () => {
    gateway = await startRoomyDemoGateway();
    const key = await gateway.issueKey();
    blocks = readBlocks(readFileSync('docs/clients.md', 'utf8'))
      .filter(({ heading }) => heading === 'Embeddings')
      .map(({ code }) => code.replaceAll('https://gateway.example', gateway.url).replaceAll('YOUR_KEY', key));
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  test('give two vectors of one length', async () => {
    const [curl = '', ...scripts] = blocks;
    const { stdout } = await run('sh', ['-c', `${curl.trim()} -sS -m 20`]);
    const { model, data } = JSON.parse(stdout);
    expect([model, data.length]).toEqual(['svc-embedding', 2]);
    const length = data[0].embedding.length;
    expect(scripts).toHaveLength(2);
    for (const script of scripts) expect(await runModule(script)).toBe(`[ ${length}, ${length} ]\n`);
  });
});
