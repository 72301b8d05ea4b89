import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { messagesTypes } from '../../lambda/dialects/messages.ts';
import { openAiTypes } from '../../lambda/dialects/openai-error.ts';

import { catalogue, type ErrorCode } from '../../lambda/errors.ts';
import { json, type Script, sse } from '../../local/upstream/script.ts';

import { readContract } from '../docs/contract.ts';
import { type DialectName, dialectNames, loadFixtures } from '../support/fixtures.ts';
import { startTestGateway } from '../support/gateway.ts';
import { createRandom } from '../support/random.ts';
import { findIdentity } from '../support/upstream-identity.ts';
import { drawInput, type Input } from './inputs.ts';

export interface FuzzSummary {
  readonly inputs: number;
  /** The number of answers by outcome. */
  readonly answers: Readonly<Record<string, number>>;
  /** The faults, each with its input. */
  readonly faults: readonly string[];
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

const parallel = 8;
const contract = readContract();
const documented = new Set(contract.operations.map(({ path }) => path));

/** Sends this many random requests over real HTTP, and checks every answer against the OpenAPI document. */
export async function fuzz(seed: number, inputs: number, onProgress?: (sent: number) => void): Promise<FuzzSummary> {
  const random = createRandom(seed);
  const clock = { time: Date.UTC(2026, 10, 21) };
  await using gateway = await startTestGateway({
    // Every other seed, so that both engines get hostile inputs.
    engine: seed % 2 === 0 ? 'web' : 'function-url',
    environment: { GUEST_LIMIT: '1000000', MEMBER_LIMIT: '1000000', BURST_LIMIT: '10000' },
    now: () => clock.time,
  });
  gateway.upstream.otherwise(({ path, body }) => answerTo(path, body));
  const key = await gateway.issueKey();
  const agent = new Agent({ keepAlive: true });
  const answers: Record<string, number> = {};
  const faults: string[] = [];
  let [drawn, sent] = [0, 0];

  const work = async (): Promise<void> => {
    while (drawn < inputs && faults.length < 20) {
      drawn += 1;
      const input = drawInput(random, key);
      const answer = await send(gateway.url, agent, input);
      const outcome = `${answer.status} ${answer.headers.get('x-svc-error') ?? ''}`.trim();
      answers[outcome] = (answers[outcome] ?? 0) + 1;
      for (const fault of judge(input, answer, key)) faults.push(`${fault}: ${describe(input)} -> ${outcome}`);
      sent += 1;
      // Many requests in one minute would only slow the counters down.
      if (sent % 100 === 0) clock.time += 60_000;
      if (sent % 5_000 === 0) onProgress?.(sent);
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  agent.destroy();
  faults.push(...gateway.faults.map((fault) => `thrown: ${fault}`));
  if (gateway.log.length !== sent) faults.push(`${gateway.log.length} lines in the log, not ${sent}`);
  return { inputs: sent, answers, faults };
}

async function send(url: string, agent: Agent, { method, path, headers, body }: Input): Promise<Answer> {
  // `path` by itself, as a URL would be normalized.
  const { hostname, port } = new URL(url);
  const outgoing = httpRequest({ hostname, port, agent, method, path });
  for (const [name, value] of Object.entries(headers)) outgoing.setHeader(name, value);
  if (body) outgoing.setHeader('content-length', body.length);
  outgoing.end(body);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  const received = new Headers();
  for (const [name, values] of Object.entries(answer.headersDistinct)) {
    for (const value of values ?? []) received.append(name, value);
  }
  return { status: answer.statusCode ?? 0, headers: received, body: await text(answer) };
}

const dialects: Readonly<Record<string, DialectName>> = {
  '/v1/chat/completions': 'chat',
  '/v1/responses': 'responses',
  '/v1/messages': 'messages',
};
const fixtures = Object.fromEntries(dialectNames.map((dialect) => [dialect, loadFixtures(dialect)]));

/** The answer of an upstream that parses the request, as the gateway must let only valid JSON through. */
function answerTo(path: string, body: Buffer): Script {
  const { stream } = JSON.parse(body.toString());
  const kind = stream === true ? 'stream' : 'answer';
  const found = fixtures[dialects[path] ?? '']?.find((one) => one.kind === kind && one.name === 'text');
  if (!found) return json(200, { input_tokens: 1 });
  return kind === 'stream' ? sse(found.bytes) : json(200, JSON.parse(found.bytes.toString()));
}

function judge({ method, path: target, headers, body }: Input, answer: Answer, key: string): string[] {
  const faults: string[] = [];
  const path = target.split('?')[0] ?? '';
  const known = documented.has(path) ? path : path.startsWith('/v1/models/') ? '/v1/models/{id}' : path;
  const code = answer.headers.get('x-svc-error');
  const isPreflight = method === 'OPTIONS' && 'access-control-request-method' in headers;
  if (answer.status >= 500) faults.push('a failure');
  if (method === 'HEAD' || (isPreflight && !documented.has(known))) {
    if (answer.body !== '') faults.push('a body where none may be');
    if (answer.headers.get('x-svc-remaining') === null) faults.push('no figures');
  } else {
    // Without the headers of a preflight, OPTIONS is one of the methods that a path does not allow.
    const asked = method === 'OPTIONS' && !isPreflight ? 'TRACE' : method;
    faults.push(...contract.judge(asked, known, answer));
    if (code !== null) faults.push(...judgeError(code, answer));
  }
  const all = answer.body + JSON.stringify([...answer.headers]);
  if (all.includes(key)) faults.push('the key');
  // The refusal of a model repeats its name to its sender.
  const own = JSON.stringify(headers) + (code === 'invalid_model' ? body : '');
  if (findIdentity(all).length > 0 && !/acme/i.test(own)) faults.push('the upstream’s name');
  return faults;
}

/** Whether the body agrees with the status and the header. */
function judgeError(code: string, { status, body }: Answer): string[] {
  const { status: due, nature } = catalogue[code as ErrorCode];
  const { error } = JSON.parse(body);
  const type = (error.code === undefined ? messagesTypes : openAiTypes)[nature];
  const right = status === due && error.type === type && (error.code ?? code) === code;
  return right ? [] : [`the body says ${error.type} ${error.code}, the header ${code}`];
}

function describe({ method, path, headers, body }: Input): string {
  return JSON.stringify({ method, path, headers, body: body?.toString('latin1') })
    .replace(/a{99,}/g, 'aaa…')
    .slice(0, 2_000);
}
