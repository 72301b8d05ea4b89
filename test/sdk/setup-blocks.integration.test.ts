import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createSnippets } from '../../lambda/accounts/pages/cli/snippets.js';
import type { TestGateway } from '../support/gateway.ts';
import { actAsModel } from '../support/model.ts';
import { withTool } from '../support/snippet-script.ts';
import { outcomesOf, startScriptedGateway } from './sdk-gateway.ts';

const run = promisify(execFile);
const answer = 'Hello from afar.';

/** Where the libraries are, and where they find those that are installed with the product. */
const folder = 'test/sdk/frameworks';

/** How to request a tool call after a block's setup, with the libraries whose tools no other test calls on chat completions. */
const asking: Readonly<Record<string, string>> = {
  langchain: `
import { HumanMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { z } from 'zod';
const get_weather = tool(weather, { name: 'get_weather', description: 'Tells', schema: z.object({ city: z.string() }) });
const withWeather = model.bindTools([get_weather]);
const messages = [new HumanMessage('What is the weather in Paris?')];
messages.push(await withWeather.invoke(messages));
for (const call of messages[1].tool_calls) messages.push(await get_weather.invoke(call));
console.log((await withWeather.invoke(messages)).text);`,
  'openai-agents': `
import { tool } from '@openai/agents';
import { z } from 'zod';
const parameters = z.object({ city: z.string() });
const get_weather = tool({ name: 'get_weather', description: 'Tells', parameters, execute: weather });
const { finalOutput } = await runner.run(agent.clone({ tools: [get_weather] }), 'What is the weather in Paris?');
console.log(finalOutput);`,
};

const weather = "const weather = ({ city }) => { console.log('asked about', city); return '21 degrees'; };";

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

  const runScript = async (script: string) => {
    // Without this environment, in which somebody's own key could replace one that a block lacks.
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const env = { PATH, NODE_COMPILE_CACHE, HTTPS_PROXY: 'http://127.0.0.1:9' };
    const words = ['--input-type=module', '--eval', script];
    const { stdout } = await run(process.execPath, words, { env, cwd: folder, timeout: 20_000 });
    return stdout;
  };

  test('curl', async () => {
    gateway.upstream.otherwise(actAsModel({ text: answer }));
    const { stdout } = await run('sh', ['-c', `${blockOf('curl', 'Terminal')} -sS -m 20`]);
    expect(JSON.parse(stdout)).toMatchObject({ model: 'svc', choices: [{ message: { content: answer } }] });
  });

  test.each(['openai', 'anthropic', 'ai-sdk', 'langchain', 'openai-agents'])('%s: one prompt', async (client) => {
    gateway.upstream.otherwise(actAsModel({ text: answer }));
    const script = blockOf(client, 'JavaScript');
    expect(await outcomesOf(gateway, async () => expect(await runScript(script)).toBe(`${answer}\n`))).toEqual([
      'answered',
    ]);
  });

  test.each(Object.keys(asking))('%s: one tool call', async (client) => {
    const call = { tool: 'get_weather', input: { city: 'Paris' } };
    gateway.upstream.otherwise(actAsModel({ text: answer, rounds: [[call]] }));
    const script = withTool(blockOf(client, 'JavaScript'), `${weather}\n${asking[client]}`);
    const outcomes = await outcomesOf(gateway, async () =>
      expect(await runScript(script)).toBe(`asked about Paris\n${answer}\n`),
    );
    expect(outcomes).toEqual(['answered', 'answered']);
  });
});
