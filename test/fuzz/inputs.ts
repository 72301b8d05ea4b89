import { gzipSync } from 'node:zlib';
import type { Random } from '../support/random.ts';
import { drawJson, drawText } from './json.ts';

/** A request that any stranger might send. */
export interface Input {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Buffer | undefined;
}

const paths = [
  ...['/v1/chat/completions', '/v1/responses', '/v1/messages', '/v1/messages/count_tokens'],
  ...['/v1/models', '/v1/models/svc', '/v1/models/svc-vision', '/v1/models/', '/', '/v1', '/v1/', '/v2/messages'],
];
const odd = ['__proto__', 'constructor', 'toString', '..', '%2e%2e', '%00', '%', '%zz', '%F0%9F', '*', '[]', ';', '\\'];
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PURGE', 'M-SEARCH', 'QUERY'];

/** Draws a request, usually one that gets as far as its body, so that it reaches the deeper layers too. */
export function drawInput(random: Random, issuedKey: string): Input {
  const path = random.once(4) ? drawPath(random) : random.pick(paths.slice(0, 4));
  const right = path.startsWith('/v1/models') ? 'GET' : 'POST';
  const method = random.once(8) ? random.pick(methods) : right;
  const body = method === 'GET' || method === 'HEAD' ? undefined : drawBody(random);
  return { method, path, headers: drawHeaders(random, issuedKey), body };
}

function drawPath(random: Random): string {
  let path = random.pick(paths);
  for (let step = random.below(3); step > 0; step -= 1) {
    const at = random.below(path.length + 1);
    const piece = random.pick([
      random.pick(odd),
      `/${random.pick(odd)}`,
      '/',
      '?beta=true&__proto__=1&__proto__[a]=2',
      encodeURIComponent(drawText(random).toWellFormed()),
      'a'.repeat(random.below(3_000)),
    ]);
    path = random.once(3) ? path.toUpperCase() : path.slice(0, at) + piece + path.slice(random.once(2) ? at : at + 1);
  }
  return path.startsWith('/') ? path : `/${path}`;
}

function drawHeaders(random: Random, issuedKey: string): Record<string, string | readonly string[]> {
  const text = () =>
    random.pick([headerText(drawText(random)), random.pick(odd), '', ' ', 'a'.repeat(random.below(4_000))]);
  const credential = () => random.pick(['guest', issuedKey, `${issuedKey}x`, 'ltk_', text(), ` ${issuedKey} `]);
  const headers: Record<string, string | readonly string[]> = {};
  if (!random.once(20)) headers['x-api-key'] = random.once(4) ? credential() : 'guest';
  if (random.once(6)) headers['api-key'] = credential();
  if (random.once(6)) headers.authorization = random.pick([`Bearer ${credential()}`, `bearer${text()}`, text()]);
  if (!random.once(8))
    headers['content-type'] = random.pick(['application/json', 'text/plain; charset=utf-16', text()]);
  const others: Readonly<Record<string, () => string | readonly string[]>> = {
    accept: text,
    'anthropic-version': text,
    'anthropic-beta': () => [text(), text()],
    'openai-beta': text,
    origin: () => random.pick(['https://app.example', 'null', text()]),
    'access-control-request-method': text,
    'access-control-request-headers': text,
    'accept-encoding': () => 'gzip, br',
    'content-encoding': () => random.pick(['gzip', text()]),
    cookie: text,
    host: () => random.pick(['x', 'x:99999', '[::1', text()]),
    forwarded: () => 'for="[2001:db8::1]"',
    'x-forwarded-for': () => random.pick(['127.0.0.1', text()]),
    'x-amzn-trace-id': text,
    __proto__: text,
    constructor: text,
    upgrade: () => 'websocket',
    te: () => 'trailers',
    range: () => 'bytes=0-1',
    'if-none-match': () => '*',
  };
  for (const [name, draw] of Object.entries(others)) if (random.once(12)) headers[name] = draw();
  return headers;
}

/** Characters that a header can have. */
function headerText(text: string): string {
  return text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '?');
}

function drawBody(random: Random): Buffer {
  const text = Buffer.from(drawJson(random));
  const dice = random.below(20);
  if (dice === 0) return Buffer.alloc(0);
  if (dice === 1) return gzipSync(text);
  if (dice === 2) return text.subarray(0, random.below(text.length + 1));
  if (dice === 3) return Buffer.from(Array.from({ length: random.below(200) }, () => random.below(256)));
  if (dice < 8) {
    for (let change = random.below(4); change >= 0; change -= 1) text[random.below(text.length)] = random.below(256);
  }
  return text;
}
