import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { messagesTypes } from '../../lambda/dialects/messages.ts';
import { openAiTypes } from '../../lambda/dialects/openai-error.ts';
import { catalogue, type ErrorCode } from '../../lambda/errors.ts';
import { faultInBody } from './answers.ts';
import {
  bearer,
  chatProbe,
  countTokensPath,
  type DialectProbe,
  dialectProbes,
  messagesProbe,
  redSquare,
  whoAreYou,
} from './dialect-probes.ts';
import { type Probe, type ProbeRequest, quote, type Reply } from './probe.ts';
import { type Finding, fail, ok, untested } from './report.ts';
import type { Run } from './run.ts';

interface ExpectedError {
  readonly code: ErrorCode;
  readonly shape: 'openai' | 'messages';
  /** What its message must quote, letter by letter. */
  readonly quotes?: string;
  /** Additional headers of this error. */
  readonly headers?: Readonly<Record<string, RegExp>>;
}

interface ErrorCase {
  readonly request: ProbeRequest;
  readonly expected: ExpectedError;
}

/** Looks like a key, but is none. */
export const unknownKey = `ltk_${'x'.repeat(43)}`;

/** No model. The error quotes it, so letters that change on the way show, in either direction. */
const foreign = 'modèle-模型-🙂';
const unknownModel = messagesProbe.question(foreign, whoAreYou);

const mebibyte = 1024 * 1024;
const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: redSquare } };

const endpoints: readonly DialectProbe[] = [...dialectProbes, { ...messagesProbe, path: countTokensPath }];
const shapeOf = ({ name }: DialectProbe) => (name === messagesProbe.name ? 'messages' : 'openai');

const get = (path: string, key: string): ProbeRequest => ({ method: 'GET', path, headers: bearer(key) });
const countTokens = (key: string, body: string | object): ProbeRequest => {
  return { method: 'POST', path: countTokensPath, headers: bearer(key), body };
};

/** What every endpoint must answer to these headers. */
function everywhere({ models: [model] }: Run, headers: Record<string, string>, code: ErrorCode): readonly ErrorCase[] {
  const noRetry = { 'x-should-retry': /^false$/ };
  const list: ProbeRequest = { method: 'GET', path: '/v1/models', headers };
  return [
    ...endpoints.map((dialect) => ({
      request: { method: 'POST', path: dialect.path, headers, body: dialect.question(model, whoAreYou) } as const,
      expected: { code, shape: shapeOf(dialect), headers: noRetry } as const,
    })),
    { request: list, expected: { code, shape: 'openai', headers: noRetry } },
  ];
}

/** Errors that come before any charge; on count_tokens, also those that cost elsewhere. */
export const freeErrors: Readonly<Record<string, (run: Run) => readonly ErrorCase[]>> = {
  'no key': (run) => everywhere(run, {}, 'missing_api_key'),
  'an unknown key': (run) => everywhere(run, { 'x-api-key': unknownKey }, 'invalid_api_key'),
  'an unknown model': ({ key }) => [
    { request: get('/v1/models/none', key), expected: { code: 'model_not_found', shape: 'openai' } },
    {
      // Coding agents append this query.
      request: { ...countTokens(key, unknownModel), path: `${countTokensPath}?beta=true` },
      expected: { code: 'invalid_model', shape: 'messages', quotes: foreign },
    },
  ],
  'a picture for the text model': ({ key, models: [model] }) => [
    {
      request: countTokens(key, { model, messages: [{ role: 'user', content: [picture] }] }),
      expected: { code: 'invalid_model', shape: 'messages' },
    },
  ],
  'a body that is not JSON': ({ key }) => [
    { request: countTokens(key, '{'), expected: { code: 'invalid_request', shape: 'messages' } },
  ],
  'an unknown encoding': ({ key }) => [
    {
      request: { ...countTokens(key, '{}'), headers: { ...bearer(key), 'content-encoding': 'compress' } },
      expected: { code: 'unsupported_encoding', shape: 'messages', headers: { 'accept-encoding': /\bgzip\b/ } },
    },
  ],
  'a WebSocket handshake': () => [
    {
      request: { method: 'GET', path: '/v1/responses', headers: { 'openai-beta': 'responses_websockets=2026-02-06' } },
      expected: { code: 'upgrade_required', shape: 'openai' },
    },
  ],
  'an unknown path': ({ key }) => [{ request: get('/v1/none', key), expected: { code: 'not_found', shape: 'openai' } }],
  'a wrong method': ({ key }) =>
    endpoints.map((dialect) => ({
      request: get(dialect.path, key),
      expected: { code: 'method_not_allowed', shape: shapeOf(dialect), headers: { allow: /\bPOST\b/ } },
    })),
};

/**
 * A body that unpacks to more than any gateway accepts is refused after the charge, which must be refunded. It is the only such
 * failure that can be caused from outside.
 */
export const unpacksTooLarge = ({ key }: Run): readonly ErrorCase[] => [
  {
    request: {
      method: 'POST',
      path: chatProbe.path,
      headers: { ...bearer(key), 'content-encoding': 'gzip' },
      body: new Uint8Array(gzipSync(Buffer.alloc(33 * mebibyte))),
    },
    expected: { code: 'request_too_large', shape: 'openai' },
  },
];

/** What a key without quota must be answered. */
export const spentQuota = ({ spentKey = '', models: [model] }: Run): readonly ErrorCase[] =>
  dialectProbes.map((dialect) => ({
    request: {
      method: 'POST',
      path: dialect.path,
      headers: dialect.keyHeaders(spentKey),
      body: dialect.question(model, whoAreYou),
    },
    expected: {
      code: 'quota_exceeded',
      shape: shapeOf(dialect),
      headers: { 'retry-after': /^\d+$/, 'x-should-retry': /^false$/ },
    },
  }));

export async function askCases(ask: Probe, cases: readonly ErrorCase[]) {
  const answered: { readonly reply: Reply; readonly expected: ExpectedError }[] = [];
  for (const { request, expected } of cases) answered.push({ reply: await ask(request), expected });
  return answered;
}

export function checkCases(answered: Awaited<ReturnType<typeof askCases>>, { headerPrefix }: Run): Finding {
  for (const { reply, expected } of answered) {
    const fault = faultInError(reply, expected, headerPrefix);
    if (fault !== undefined) return fail(`${reply.title}: ${fault}`);
  }
  return ok(`${answered.length} as documented`);
}

/** Many proxies refuse a long prompt: by default nginx takes no more than 1 MiB. The model is unknown, so it goes no further. */
export const largeBody = ({ key }: Run) => countTokens(key, { ...unknownModel, system: 'x'.repeat(4 * mebibyte) });

export function checkLarge(reply: Reply, { headerPrefix }: Run): Finding {
  if (faultInError(reply, { code: 'request_too_large', shape: 'messages' }, headerPrefix) === undefined) {
    return untested('REQUEST_BODY_LIMIT is below 4 MiB; raise it to see larger bodies pass');
  }
  const fault = faultInError(reply, { code: 'invalid_model', shape: 'messages' }, headerPrefix);
  return fault === undefined ? ok('4 MiB') : fail(`${reply.title}: ${fault}`);
}

/** The highest burst limit that is looked for. */
const highestBurst = 60;
/** As a minute may end in between, it takes so many requests to be sure that the limit is higher. */
export const mostCounts = 2 * highestBurst;

export function checkBurst(replies: readonly Reply[], { headerPrefix }: Run): Finding {
  const refusal = replies.find(({ status }) => status === 429 || status >= 500);
  if (!refusal) return untested(`${mostCounts} in a row passed: BURST_LIMIT is above ${highestBurst}`);
  if (refusal.status >= 500) return fail(`${refusal.title} answered ${quote(refusal)}`);
  const headers = { 'retry-after': /^[1-9]\d?$/ };
  const fault = faultInError(refusal, { code: 'rate_limited', shape: 'messages', headers }, headerPrefix);
  return fault === undefined ? ok(`after ${replies.length - 1} in a minute`) : fail(`${refusal.title}: ${fault}`);
}

/** The fault in an error's status, exact shape or headers; undefined if there is none. */
export function faultInError(reply: Reply, expected: ExpectedError, headerPrefix: string): string | undefined {
  const { code, shape, quotes = '', headers = {} } = expected;
  const { status, nature } = catalogue[code];
  const message = z
    .string()
    .min(1)
    .includes(quotes, `it does not quote ${quotes}: something on the way changes letters beyond ASCII`);
  if (reply.status !== status) return `expected ${status} ${code}, not ${quote(reply)}`;
  const body =
    shape === 'openai'
      ? z.strictObject({ message, type: z.literal(openAiTypes[nature]), code: z.literal(code) })
      : z.strictObject({ type: z.literal(messagesTypes[nature]), message });
  const whole = shape === 'openai' ? { error: body } : { type: z.literal('error'), error: body };
  const fault = faultInBody(reply, z.strictObject(whole));
  if (fault !== undefined) return fault;
  for (const [name, value] of Object.entries({ [`${headerPrefix}error`]: new RegExp(`^${code}$`), ...headers })) {
    const found = reply.headers.get(name);
    if (found === null || !value.test(found)) return `${name} is ${found ?? 'missing'}`;
  }
  return undefined;
}
