import { gzipSync } from 'node:zlib';
import { type DialectName, dialectNames, loadFixtures } from '../support/fixtures.ts';
import { addressOf, keyOf } from './callers.ts';
import { httpMessage } from './http-reader.ts';
import { type CallerPlan, isPriced, isRecorded, type RequestPlan } from './plan.ts';

export type ClientRequest = ReturnType<typeof requestOf>;

const paths: Readonly<Record<DialectName, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
};

/** What the prompts hold, which no log may. */
export const promptMark = 'canary-of-the-prompt';

const countPaths = { ...paths, messages: '/v1/messages/count_tokens', responses: '/v1/responses/input_tokens' };
const otherPaths = {
  'for vectors': '/v1/embeddings',
  'for models': '/v1/models',
  'for usage': '/v1/usage',
  'for nothing known': '/v1/nothing',
};

const recordings = Object.fromEntries(
  dialectNames.map((name) => [
    name,
    loadFixtures(name).flatMap(({ kind, bytes }) => (kind === 'request' ? [bytes.toString()] : [])),
  ]),
) as Record<DialectName, string[]>;

/** A recorded request, to which the client adds its own question. */
function recordedBody({ dialect, recorded, stream }: RequestPlan, text: string): string {
  const texts = recordings[dialect];
  const body = JSON.parse(texts[recorded % texts.length] ?? '{}');
  const asked = { role: 'user', content: text };
  const history = dialect === 'responses' ? 'input' : 'messages';
  const before = typeof body[history] === 'string' ? [{ role: 'user', content: body[history] }] : body[history];
  return JSON.stringify({ ...body, model: 'svc', [history]: [...(before ?? []), asked], stream });
}

/** The body of a request, by which upstreams know its number. */
export function bodyOf(plan: RequestPlan, number: number): string {
  const { dialect, stream, wrong, padding, choices, outputLimit, wantsUsage } = plan;
  const text = `${promptMark} case-${number} ${'p'.repeat(padding)}`;
  if (isRecorded(plan)) return recordedBody(plan, text);
  const image = { type: 'image_url', image_url: { url: 'https://pictures.example/1.png' } };
  const isOfVectors = plan.asks === 'for vectors';
  const content = wrong === 'image' ? [{ type: 'text', text }, image] : text;
  const model =
    { image: 'svc', model: 'svc-nonsense', 'no model': undefined }[wrong as string] ??
    (isOfVectors ? 'svc-embedding' : 'svc');
  const messages = [{ role: 'user', content }];
  const counts = plan.asks === 'for a count';
  const rest = {
    chat: {
      messages,
      max_tokens: outputLimit,
      ...(choices > 1 && { n: choices }),
      ...(wantsUsage && stream && { stream_options: { include_usage: true } }),
    },
    responses: { input: wrong === 'image' ? messages : text, ...(!counts && { max_output_tokens: outputLimit }) },
    messages: { messages, ...(!counts && { max_tokens: outputLimit }) },
  }[dialect];
  const body = {
    ...(wrong !== 'no model' && { model }),
    ...(isOfVectors ? { input: [text] } : rest),
    ...(stream && !counts && { stream }),
  };
  return wrong === 'json' ? JSON.stringify(body).slice(0, -3) : JSON.stringify(body);
}

function pathOf({ asks, dialect }: RequestPlan): string {
  if (asks === 'for an answer') return paths[dialect];
  return asks === 'for a count' ? countPaths[dialect] : otherPaths[asks];
}

/** The request of a caller. */
export function requestOf(plan: RequestPlan, number: number, caller: CallerPlan) {
  const asksNothing = !isPriced(plan) && plan.asks !== 'for a count';
  const method = asksNothing ? 'GET' : 'POST';
  const path = pathOf(plan);
  const text = Buffer.from(asksNothing ? '' : bodyOf(plan, number));
  const isPacked = !asksNothing && (plan.gzip || plan.wrong === 'gzip cut');
  const packed = isPacked ? gzipSync(text) : text;
  const body = plan.wrong === 'gzip cut' ? packed.subarray(0, -6) : packed;
  const key = keyOf(caller);
  const headers: Record<string, string> = {
    host: 'gateway.example',
    // Whatever a client writes there, the balancer in front adds the address that it sees.
    'x-forwarded-for': `198.51.100.7, ${addressOf(caller)}`,
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...(method === 'POST' && { 'content-type': 'application/json', 'content-length': String(body.length) }),
    ...(isPacked && { 'content-encoding': 'gzip' }),
    ...(plan.wrong === 'encoding' && { 'content-encoding': 'rot13' }),
    cookie: 'session=canary-of-the-cookie',
    'user-agent': 'canary-of-the-agent',
  };
  return {
    method,
    path,
    headers,
    body,
    address: addressOf(caller),
    bytes: httpMessage(`${method} ${path} HTTP/1.1`, headers, body),
  };
}
