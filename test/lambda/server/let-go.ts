import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, createServer, type IncomingMessage, request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { listenLocally } from '../../../local/listen-locally.ts';
import { startTestGateway } from '../../support/gateway.ts';
import { readSettledMemory } from '../../support/settled-memory.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { wire } from '../../support/wire.ts';

const { path, question, events } = wire.chat;
const size = 4_000_000;

/** An upstream that discards requests, begins each answer at once unless it `thinks`, and ends none. */
async function startForgetfulUpstream(thinks: boolean) {
  let read = 0;
  const server = createServer((incoming, response) => {
    incoming.resume();
    incoming.once('end', () => {
      read += 1;
      if (!thinks) response.writeHead(200, { 'content-type': 'text/event-stream' }).write(events[0]);
    });
  });
  const { url, close } = await listenLocally(server);
  return { url: `${url}/v1`, read: () => read, [Symbol.asyncDispose]: close };
}

/** Asks for a stream with a long prompt; this end keeps nothing of that either. */
const askForStream = (url: string, encoding: string): ClientRequest =>
  ask(url + path, encoding, {
    ...question,
    messages: [{ role: 'user', content: randomBytes(size * 0.75).toString('base64') }],
    stream: true,
  });

function ask(url: string, encoding: string, question: object): ClientRequest {
  const headers = { 'content-type': 'application/json', 'x-api-key': 'x', 'content-encoding': encoding };
  const outgoing = request(url, { method: 'POST', headers, agent: false });
  const body = JSON.stringify(question);
  outgoing.on('error', () => {});
  outgoing.end(encoding === 'gzip' ? gzipSync(body) : body);
  return outgoing;
}

async function begun(outgoing: ClientRequest): Promise<void> {
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  await once(answer, 'data');
}

/** What five open streams hold of their prompts, in bytes. */
async function memoryOfPrompts(encoding: string, thinks: boolean, settings: Record<string, string>): Promise<number> {
  await using upstream = await startForgetfulUpstream(thinks);
  await using gateway = await startTestGateway({
    engine: 'web',
    environment: { GUEST_LIMIT: '100', UPSTREAM_BASE_URL: upstream.url, ...settings },
  });
  const streams: ClientRequest[] = [];
  const open = async () => {
    const outgoing = askForStream(gateway.url, encoding);
    streams.push(outgoing);
    if (thinks) await waitUntil(() => upstream.read() === streams.length, 'the upstream has the prompt');
    else await begun(outgoing);
  };
  await open();
  const before = await readSettledMemory();
  while (streams.length < 6) await open();
  const grown = (await readSettledMemory()) - before;
  for (const stream of streams) stream.destroy();
  return grown;
}

/** What sixteen translated streams hold that nobody reads, and what is left once they are over, in bytes. */
async function memoryOfAnswers(members: object) {
  await using upstream = await startForgetfulUpstream(false);
  await using gateway = await startTestGateway({
    engine: 'web',
    server: { bodyBudget: 24 * 1_048_576 },
    environment: {
      GUEST_LIMIT: '1000',
      BURST_LIMIT: '1000',
      UPSTREAM_BASE_URL: upstream.url,
      UPSTREAM_DIALECTS: 'chat',
    },
  });
  // Little more than a few kilobytes each on the way.
  const question = { model: 'svc', input: 'Hello', stream: true, ...members };
  const streams: ClientRequest[] = [];
  const statuses: (number | undefined)[] = [];
  const open = async () => {
    const outgoing = ask(`${gateway.url}/v1/responses`, 'gzip', question);
    streams.push(outgoing);
    // Nobody reads any answer.
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    statuses.push(answer.statusCode);
  };
  const answered = () => statuses.filter((status) => status === 200).length;
  const leave = async () => {
    for (const stream of streams.splice(0)) stream.destroy();
    await waitUntil(
      () => gateway.log.filter(({ message }) => message === 'answered').length >= answered(),
      'they are over',
    );
  };
  await open();
  await leave();
  const before = await readSettledMemory();
  while (streams.length < 16) await open();
  const grown = (await readSettledMemory()) - before;
  await leave();
  const left = (await readSettledMemory()) - before;
  await open();
  await leave();
  return { statuses, grown, left };
}

const twoKeys = { UPSTREAM_API_KEYS: 'upstream-key-one,upstream-key-two' };
const tool = (at: number) => ({ type: 'function', name: `a_tool_that_looks_for_the_weather_${at}` });
const manyTools = [{ type: 'namespace', name: 'weather', tools: Array.from({ length: 5_000 }, (_, at) => tool(at)) }];

/* Prints what streams hold: in a process of its own, in which nothing else comes and goes. */

const prompts = {
  'while its answer flows: as it came': await memoryOfPrompts('identity', false, {}),
  'while its answer flows: compressed': await memoryOfPrompts('gzip', false, {}),
  'while its answer flows: with several keys, by its opening words': await memoryOfPrompts('identity', false, twoKeys),
  'while the last upstream thinks': await memoryOfPrompts('identity', true, {}),
};
const answers = {
  'answers repeat of their requests': await memoryOfAnswers({
    instructions: 'x'.repeat(1_200_000),
    tools: [tool(0)],
  }),
  'answers need of the names of tools': await memoryOfAnswers({ tools: manyTools }),
};
console.log(JSON.stringify({ size, prompts, answers }));
process.exit();
