import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { chatCases } from './cases/index.ts';
import { bytesOf, type Client, plainOf, translateAnswer, translateStream } from './translated.ts';

/** A server that answers each request with this. */
type Fetch = () => Promise<Response>;

const messages = [{ role: 'user' as const, content: 'Hello' }];
const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hello' }] }];
const weather = { type: 'function' as const, name: 'weather', inputSchema: { type: 'object' as const } };
const tools = [weather, { ...weather, name: 'clock' }];

const openAi = (fetch: Fetch) => new OpenAI({ baseURL: 'http://gateway', apiKey: 'k', maxRetries: 0, fetch });
const anthropic = (fetch: Fetch) => new Anthropic({ baseURL: 'http://gateway', apiKey: 'k', maxRetries: 0, fetch });

type Model = ReturnType<ReturnType<typeof createOpenAI>['responses']>;
const vercel: Record<Client, (fetch: Fetch) => Model> = {
  responses: (fetch) => createOpenAI({ baseURL: 'http://gateway', apiKey: 'k', fetch }).responses('svc'),
  messages: (fetch) => createAnthropic({ baseURL: 'http://gateway', apiKey: 'k', fetch })('svc'),
};

/** Reads a stream, of which this strict reader says itself what it can't read. */
async function readParts(model: Model): Promise<void> {
  const { stream } = await model.doStream({ prompt, tools });
  for await (const part of stream) if (part.type === 'error') throw part.error;
}

interface Reader {
  readonly client: Client;
  readonly stream: (fetch: Fetch) => Promise<unknown>;
  readonly plain: (fetch: Fetch) => Promise<unknown>;
}

const vercelReader = (client: Client): Reader => ({
  client,
  stream: (fetch) => readParts(vercel[client](fetch)),
  plain: async (fetch) => void (await vercel[client](fetch).doGenerate({ prompt, tools })),
});

const readers: readonly (readonly [string, Reader])[] = [
  [
    "openai's response stream",
    {
      client: 'responses',
      stream: (fetch) => openAi(fetch).responses.stream({ model: 'svc', input: 'Hello' }).finalResponse(),
      plain: (fetch) => openAi(fetch).responses.parse({ model: 'svc', input: 'Hello' }),
    },
  ],
  [
    "anthropic's message stream",
    {
      client: 'messages',
      stream: (fetch) => anthropic(fetch).messages.stream({ model: 'svc', max_tokens: 9, messages }).finalMessage(),
      plain: (fetch) => anthropic(fetch).messages.create({ model: 'svc', max_tokens: 9, messages }),
    },
  ],
  ["the ai SDK's provider of responses", vercelReader('responses')],
  ["the ai SDK's provider of messages", vercelReader('messages')],
];

/** Members that only one of a reader's two ways has, and ids, which are random. */
function comparable(value: unknown): unknown {
  const left = /^(providerMetadata|raw|_request_id|parsed|output_parsed|parsed_output|parsed_arguments|partial_json)$/;
  return JSON.parse(
    JSON.stringify(value ?? null, (name, member) => {
      if (left.test(name)) return undefined;
      return /id$/i.test(name) && /\d{32}$/.test(member) ? 'id' : member;
    }),
  );
}

test.each(readers)('%s reads what the plain answer says', async (_name, { client, stream, plain }) => {
  for (const one of chatCases) {
    const setup = { stops: one.stop === undefined ? [] : [one.stop] };
    const { output } = translateStream(client, bytesOf(one), setup);
    const events = async () => new Response(output, { headers: { 'content-type': 'text/event-stream' } });
    const folded = await stream(events).catch((cause) => {
      throw new Error(one.name, { cause });
    });
    const answer = plainOf(one);
    if (answer === undefined) continue;
    const whole = await plain(async () => Response.json(translateAnswer(client, answer, setup)));
    expect([one.name, comparable(folded)]).toEqual([one.name, comparable(whole)]);
  }
});
