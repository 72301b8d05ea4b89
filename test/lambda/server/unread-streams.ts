import { once } from 'node:events';
import { type ClientRequest, createServer, type IncomingMessage, request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { translate } from '../../../lambda/dialects/translation.ts';
import { createScanner } from '../../../lambda/json/scan.ts';
import { listenLocally } from '../../../local/listen-locally.ts';
import { startTestGateway } from '../../support/gateway.ts';
import { readSettledMemory } from '../../support/settled-memory.ts';
import { turnEventLoop } from '../../support/wait-until.ts';
import { plainUpstream, sealing } from '../dialects/model/request/translate.ts';

type Spoken = 'chat' | 'messages';

const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
const floods: Readonly<Record<Spoken, readonly [first: string, rest: string]>> = {
  chat: [
    event({ choices: [{ index: 0, delta: { role: 'assistant', content: 'Hi' } }] }),
    event({ choices: [{ index: 0, delta: { content: 'a' } }] }),
  ],
  messages: [
    event({ type: 'message_start', message: { content: [], usage: { input_tokens: 1 } } }) +
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a' } }),
  ],
};

/** An upstream that writes as much as is read, for ever. */
async function startEndlessUpstream(spoken: Spoken) {
  const [first, rest] = floods[spoken];
  const block = rest.repeat(Math.ceil(65_536 / rest.length));
  let written = 0;
  const server = createServer((incoming, response) => {
    incoming.resume();
    const write = () => {
      do written += 1;
      while (response.write(block));
    };
    incoming.once('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(first);
      response.on('drain', write);
      write();
    });
  });
  const { url, close } = await listenLocally(server);
  return {
    url: `${url}/v1`,
    /** Waits until nobody reads any more. */
    async isHeldBack() {
      for (let before = -1; before < written; ) {
        before = written;
        await turnEventLoop(50);
      }
    },
    [Symbol.asyncDispose]: close,
  };
}

/** Asks for a stream of which nothing is read but its head. */
async function askAndWait(url: string, body: Buffer): Promise<readonly [ClientRequest, number | undefined]> {
  const headers = { 'content-type': 'application/json', 'x-api-key': 'x', 'content-encoding': 'gzip' };
  const outgoing = request(url, { method: 'POST', headers, agent: false });
  outgoing.on('error', () => {});
  outgoing.end(body);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  return [outgoing, answer.statusCode];
}

const streams = 16;

/** What one of sixteen unread streams holds, in bytes. */
async function memoryOfOne(path: string, question: object, spoken: Spoken, settings: Record<string, string>) {
  await using upstream = await startEndlessUpstream(spoken);
  await using gateway = await startTestGateway({
    engine: 'web',
    server: { bodyBudget: 1_073_741_824 },
    environment: { GUEST_LIMIT: '100', BURST_LIMIT: '100', UPSTREAM_BASE_URL: upstream.url, ...settings },
  });
  const open: ClientRequest[] = [];
  const body = gzipSync(JSON.stringify({ model: 'svc', stream: true, ...question }));
  const ask = async () => {
    const [outgoing, status] = await askAndWait(gateway.url + path, body);
    if (status !== 200) throw new Error(`the answer is ${status}`);
    open.push(outgoing);
  };
  await ask();
  await upstream.isHeldBack();
  const before = await readSettledMemory();
  for (let stream = 0; stream < streams; stream += 1) await ask();
  await upstream.isHeldBack();
  const grown = (await readSettledMemory()) - before;
  for (const outgoing of open) outgoing.destroy();
  return grown / streams;
}

const long = 'x'.repeat(4_000_000);
const paths = { chat: '/v1/chat/completions', responses: '/v1/responses', messages: '/v1/messages' };
const many = (one: (name: string) => object) => Array.from({ length: 10_000 }, (_, at) => one(`a_tool_of_many_${at}`));
const own = (name: string) => ({ type: 'function', name });
const ofChat = (name: string) => ({ type: 'function', function: { name } });
const say = (content: string) => ({ messages: [{ role: 'user', content }] });

type Shape = readonly [what: string, client: keyof typeof paths, spoken: Spoken, question: object];

const shapes: readonly Shape[] = [
  ['a long body', 'messages', 'chat', { max_tokens: 9, ...say(long) }],
  ['a long body, with a tool', 'chat', 'messages', { ...say(long), tools: [ofChat('a_tool_of_the_client')] }],
  [
    'a long body, with tools that the upstream knows by other names',
    'responses',
    'chat',
    { input: long, tools: [{ type: 'custom', name: 'a_tool_of_the_client' }, own('a_long_name'.repeat(10))] },
  ],
  ['a long body, of which one member is left out', 'responses', 'messages', { input: long, an_unknown_member: 1 }],
  ['many tools', 'chat', 'messages', { ...say('Hello'), tools: many(ofChat) }],
  ['many tools', 'messages', 'chat', { max_tokens: 9, ...say('Hello'), tools: many((name) => ({ name })) }],
  ['many tools', 'responses', 'chat', { input: 'Hello', tools: many(own) }],
  [
    'many tools that the upstream knows by other names',
    'responses',
    'messages',
    { input: 'Hello', tools: [{ type: 'namespace', name: 'a_namespace', tools: many(own) }] },
  ],
  [
    'long instructions, which the answer repeats',
    'responses',
    'chat',
    { input: 'Hello', instructions: long.slice(3e6) },
  ],
];

/** What is counted of a translated stream, in bytes. */
function keptOf([, client, spoken, question]: Shape): number {
  const upstream = { ...plainUpstream, limit: 9 };
  const asked = { from: client, into: spoken, sealing, upstream, model: 'up-model', isCounted: false };
  const json = createScanner().scan(JSON.stringify({ model: 'svc', stream: true, ...question }));
  return translate(json, asked).answer.keptBytes;
}

/* Prints what unread streams hold: in a process of its own, in which nothing else comes and goes. */

// The first measurement is of what a process makes once.
await memoryOfOne(paths.chat, say('Hello'), 'chat', {});
const passedOn = await memoryOfOne(paths.chat, say(long), 'chat', {});
const translated = [];
for (const shape of shapes) {
  const [what, client, spoken, question] = shape;
  const settings = { UPSTREAM_DIALECTS: spoken, UPSTREAM_OUTPUT_LIMIT: '9' };
  const held = await memoryOfOne(paths[client], question, spoken, settings);
  translated.push({ name: `${what} of ${client} for ${spoken}`, held, kept: keptOf(shape) });
}
console.log(JSON.stringify({ passedOn, translated }));
process.exit();
