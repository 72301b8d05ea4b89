import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { DialectName } from '../support/fixtures.ts';
import type { TestGateway } from '../support/gateway.ts';
import { conversation, expectTurnsIn } from '../support/strict-messages.ts';
import {
  answer,
  expectHidden,
  runModule,
  runModules,
  startRoomyDemoGateway,
  startStrictGateway,
  upstreams,
  upstreamsFor,
} from './sdk-gateway.ts';

const found = 'Here is what I found: Paris: 21 degrees; Rome: 21 degrees.';
const rain = 'What is the weather in both Paris and Rome?';
const image = 'data:image/png;base64,iVBORw0KGgo=';

/** LangChain code for conversations with any model. */
const chainTools = `
import { HumanMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { z } from 'zod';
const asked = [];
const weather = tool(({ city }) => { asked.push(city); return city + ': 21 degrees'; },
  { name: 'get_weather', description: 'Tells the weather.', schema: z.object({ city: z.string() }) });

/** Joins a stream into one message. */
async function streamed(model, input) {
  let whole;
  for await (const chunk of await model.stream(input)) whole = whole?.concat(chunk) ?? chunk;
  return whole;
}
async function converse(ask) {
  const messages = [new HumanMessage('${rain}')];
  for (;;) {
    const answer = await ask(messages);
    if (answer.tool_calls.length === 0) return answer.text;
    messages.push(answer);
    for (const call of answer.tool_calls) messages.push(await weather.invoke(call));
  }
}`;

/** A prompt, a stream, two parallel tool calls and their results, an image. */
const chain = `${chainTools}
const withTools = model.bindTools([weather]);
const thinking = [await thinker.invoke('Who are you?'), await streamed(thinker, 'Who are you?')];
const looking = new HumanMessage({ content: [
  { type: 'text', text: 'What is this?' }, { type: 'image_url', image_url: { url: '${image}' } },
] });
console.log(JSON.stringify({
  whole: (await model.invoke('Who are you?')).text,
  streamed: (await streamed(model, 'Who are you?')).text,
  found: [await converse((input) => withTools.invoke(input)), await converse((input) => streamed(withTools, input))],
  asked,
  reasoning: thinking.map(reasoningOf),
  again: (await thinker.invoke([new HumanMessage('Who are you?'), thinking[1], new HumanMessage('Who are you?')])).text,
  seen: (await seer.invoke([looking])).text,
}));`;

const openaiModel = (dialect: DialectName) => `
import { ChatOpenAI } from '@langchain/openai';
const isOnResponses = ${dialect === 'responses'};
const at = { apiKey: key, useResponsesApi: isOnResponses, configuration: { baseURL: url + '/v1' } };
const model = new ChatOpenAI({ model: 'svc', ...at });
// It sends its own setting only to OpenAI's models.
const modelKwargs = isOnResponses
  ? { reasoning: { effort: 'low', summary: 'auto' }, include: ['reasoning.encrypted_content'] }
  : { reasoning_effort: 'low' };
const thinker = new ChatOpenAI({ model: 'svc', modelKwargs, ...at });
const seer = new ChatOpenAI({ model: 'svc-vision', ...at });
const reasoningOf = ({ additional_kwargs: { reasoning, reasoning_content } }) =>
  isOnResponses ? reasoning.summary.map(({ text }) => text).join('') : reasoning_content;`;

const anthropicModel = `
import { ChatAnthropic } from '@langchain/anthropic';
const at = { apiKey: key, anthropicApiUrl: url, maxTokens: 2000 };
const model = new ChatAnthropic({ model: 'svc', ...at });
const thinker = new ChatAnthropic({ model: 'svc', thinking: { type: 'enabled', budget_tokens: 1024 }, ...at });
const seer = new ChatAnthropic({ model: 'svc-vision', ...at });
const reasoningOf = ({ content }) => content.find(({ type }) => type === 'thinking').thinking;`;

/** Code for OpenAI's agents. */
const agentTools = (dialect: DialectName) => `
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents';
import { z } from 'zod';
const runner = new Runner({
  modelProvider: new OpenAIProvider({ baseURL: url + '/v1', apiKey: key, useResponses: ${dialect === 'responses'} }),
  tracingDisabled: true,
});
const asked = [];
const weather = tool({ name: 'get_weather', description: 'Tells the weather.', parameters: z.object({ city: z.string() }),
  execute: ({ city }) => { asked.push(city); return city + ': 21 degrees'; } });
const agent = new Agent({ name: 'Assistant', model: 'svc', instructions: 'Be brief.' });
const thinker = agent.clone({ modelSettings: { reasoning: { effort: 'low', summary: 'auto' } } });
const providerData = ${dialect === 'responses'} ? { include: ['reasoning.encrypted_content'] } : {};
const withTools = thinker.clone({ tools: [weather], modelSettings: { ...thinker.modelSettings, providerData } });

async function streamed(agent, input) {
  const result = await runner.run(agent, input, { stream: true, maxTurns: 20 });
  let text = '';
  for await (const event of result) {
    if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta') text += event.data.delta;
  }
  await result.completed;
  if (!text.endsWith(result.finalOutput)) throw new Error('streamed ' + text + ', but ended with ' + result.finalOutput);
  return result;
}`;

/** The same conversation with those. */
const agents = (dialect: DialectName) => `${agentTools(dialect)}
const reasoningOf = ({ newItems }) =>
  newItems.find(({ type }) => type === 'reasoning_item')?.rawItem.content.map(({ text }) => text).join('');
const user = (...content) => ({ role: 'user', content });
const thinking = [await runner.run(thinker, 'Who are you?'), await streamed(thinker, 'Who are you?')];
const looking = user({ type: 'input_text', text: 'What is this?' }, { type: 'input_image', image: '${image}' });
console.log(JSON.stringify({
  whole: (await runner.run(agent, 'Who are you?')).finalOutput,
  streamed: (await streamed(agent, 'Who are you?')).finalOutput,
  found: [(await runner.run(withTools, '${rain}')).finalOutput, (await streamed(withTools, '${rain}')).finalOutput],
  asked,
  reasoning: thinking.map(reasoningOf),
  again: (await runner.run(thinker, [...thinking[1].history, user({ type: 'input_text', text: 'Who are you?' })])).finalOutput,
  seen: (await runner.run(agent.clone({ model: 'svc-vision' }), [looking])).finalOutput,
}));`;

const scripts: [name: string, dialect: DialectName, script: string][] = [
  ['LangChain on chat', 'chat', openaiModel('chat') + chain],
  ['LangChain on responses', 'responses', openaiModel('responses') + chain],
  ['LangChain on messages', 'messages', anthropicModel + chain],
  ["OpenAI's agents on chat", 'chat', agents('chat')],
  ["OpenAI's agents on responses", 'responses', agents('responses')],
];

/** A script with as many turns as the model makes tool calls, and whether it sends reasoning back. */
const long: [name: string, sendsReasoning: boolean, script: string][] = [
  ...(['chat', 'responses'] as const).map((dialect): [string, boolean, string] => [
    ...([`LangChain on ${dialect}`, dialect === 'responses'] as const),
    `${openaiModel(dialect)}${chainTools}
const able = thinker.bindTools([weather]);
console.log(await converse((input) => able.invoke(input)), await converse((input) => streamed(able, input)));`,
  ]),
  ...(['chat', 'responses'] as const).map((dialect): [string, boolean, string] => [
    ...([`OpenAI's agents on ${dialect}`, dialect === 'responses'] as const),
    `${agentTools(dialect)}
const whole = await runner.run(withTools, '${rain}', { maxTurns: 20 });
console.log(whole.finalOutput, (await streamed(withTools, '${rain}')).finalOutput);`,
  ]),
];

/** A script, once for each gateway. */
async function scriptFor(script: string, gateways: readonly TestGateway[]): Promise<string> {
  const [imports, talk] = [script.match(/^import .*/gm) ?? [], script.replace(/^import .*/gm, '')];
  const access = await Promise.all(gateways.map(async (gateway) => [gateway.url, await gateway.issueKey()]));
  return `${imports.join('\n')}\nfor (const [url, key] of ${JSON.stringify(access)}) {${talk}\n}`;
}

describe('ten turns over an upstream of messages alone', () => {
  let outputs: readonly string[];
  const gateways: TestGateway[] = [];

  beforeAll(async () => {
    for (const _ of long) gateways.push(await startStrictGateway(conversation('get_weather', { city: 'Paris' }, 10)));
    outputs = await runModules(
      await Promise.all(long.map(([, , script], index) => scriptFor(script, gateways.slice(index, index + 1)))),
    );
  });
  afterAll(async () => {
    for (const gateway of gateways) await gateway[Symbol.asyncDispose]();
  });

  test.each(long.map(([name, sendsReasoning], index) => ({ name, sendsReasoning, index })))(
    '$name: it gets its reasoning back: $sendsReasoning',
    ({ sendsReasoning, index }) => {
      expect(outputs[index]).toBe('Done. Done.\n');
      const { requests } = gateways[index]?.upstream ?? { requests: [] };
      expect(requests).toHaveLength(20);
      for (const last of [requests[9], requests[19]]) expectTurnsIn(last, 9, sendsReasoning);
    },
  );
});

/** Code that embeds the same texts with each framework. */
const embedders = `
import { OpenAIEmbeddings } from '@langchain/openai';
import { OpenAIEmbedding } from '@llamaindex/openai';
const ofLangChain = new OpenAIEmbeddings({ model: 'svc-embedding', apiKey: key, configuration: { baseURL: url + '/v1' } });
const ofLlamaIndex = new OpenAIEmbedding({ model: 'svc-embedding', apiKey: key, baseURL: url + '/v1' });
console.log(JSON.stringify({
  langChain: [await ofLangChain.embedQuery('a'), ...(await ofLangChain.embedDocuments(['a', 'b']))],
  llamaIndex: [await ofLlamaIndex.getTextEmbedding('a'), ...(await ofLlamaIndex.getTextEmbeddings(['a', 'b']))],
}));`;

test("LangChain's embedder and LlamaIndex's", async () => {
  await using gateway = await startRoomyDemoGateway();
  const printed = await runModule(await scriptFor(embedders, [gateway]));
  const { langChain, llamaIndex } = expectHidden(JSON.parse(printed));
  const [a, again, b] = langChain;
  expect([again, llamaIndex]).toEqual([a, langChain]);
  expect(Math.hypot(...a)).toBeCloseTo(1);
  expect(b).not.toEqual(a);
});

describe('over each upstream that serves it', () => {
  let outputs: readonly string[];
  const gateways = new Map<string, TestGateway>();
  const gatewaysFor = (dialect: DialectName) => upstreamsFor(dialect).flatMap(({ kind }) => gateways.get(kind) ?? []);

  beforeAll(async () => {
    for (const { kind, start } of upstreams) gateways.set(kind, await start());
    outputs = await runModules(
      await Promise.all(scripts.map(([, dialect, script]) => scriptFor(script, gatewaysFor(dialect)))),
    );
  });
  afterAll(async () => {
    for (const gateway of gateways.values()) await gateway[Symbol.asyncDispose]();
  });

  test.each(scripts.map(([name, dialect], index) => ({ name, dialect, index })))(
    '$name: texts, calls at once and their results, reasoning and an image',
    ({ name, dialect, index }) => {
      // On chat, OpenAI's agents ignore reasoning.
      const reasoningText =
        name === "OpenAI's agents on chat" ? null : expect.stringMatching('svc taught me to think first');
      const whole = {
        ...{
          whole: answer,
          streamed: answer,
          found: [found, found],
          reasoning: [reasoningText, reasoningText],
          again: answer,
        },
        asked: ['Paris', 'Rome', 'Paris', 'Rome'],
        seen: expect.stringMatching('I can see an image'),
      };
      const lines = outputs[index]?.trim().split('\n') ?? [];
      expect(lines.map((line) => expectHidden(JSON.parse(line)))).toEqual(gatewaysFor(dialect).map(() => whole));
    },
  );
});
