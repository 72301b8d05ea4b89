import { gzipSync } from 'node:zlib';
import { fail, ok, type Row, untested } from '../examination/row.ts';
import { chatProbe, countTokensPath, dialectProbes, messagesProbe, whoAreYou } from './dialect-probes.ts';
import type { Acquaintance } from './greet.ts';
import { type ExpectedError, faultInError } from './judge-error.ts';
import type { Ledger } from './ledger.ts';
import type { Ask, Probe } from './probe.ts';
import { redSquare } from './red-square.ts';

export interface Case {
  readonly ask: Ask;
  readonly expected: ExpectedError;
}

/** Looks like a key, but is none. */
export const unknownKey = `ltk_${'x'.repeat(43)}`;

/** No model. The error quotes it, so letters that change on the way show, in either direction. */
const foreign = 'modèle-模型-🙂';

const mebibyte = 1024 * 1024;

/** Unpacked more than any gateway accepts; packed next to nothing. */
const unpacksTooLarge = new Uint8Array(gzipSync(Buffer.alloc(33 * mebibyte)));

const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: redSquare } };

/** Errors that come before any charge; on count_tokens, also those that cost elsewhere. */
export async function* examineErrors(ask: Probe, key: string, known: Acquaintance): AsyncGenerator<Row> {
  const [model] = known.models;
  const noRetry = { 'x-should-retry': /^false$/ };
  const inference = [...dialectProbes, { ...messagesProbe, path: countTokensPath }].map((dialect) => ({
    ask: { method: 'POST', path: dialect.path, body: dialect.question(model, whoAreYou) } as const,
    shape: dialect.name === messagesProbe.name ? ('messages' as const) : ('openai' as const),
  }));
  const all = [...inference, { ask: { method: 'GET', path: '/v1/models' } as const, shape: 'openai' as const }];
  const headers = { authorization: `Bearer ${key}` };
  const get = (path: string): Ask => ({ method: 'GET', path, headers });
  const count = (body: string | object): Ask => ({ method: 'POST', path: countTokensPath, headers, body });
  const unknownModel = messagesProbe.question(foreign, whoAreYou);

  const checks: Readonly<Record<string, readonly Case[]>> = {
    'no key': all.map(({ ask, shape }) => ({ ask, expected: { code: 'missing_api_key', shape, headers: noRetry } })),
    'an unknown key': all.map(({ ask, shape }) => ({
      ask: { ...ask, headers: { 'x-api-key': unknownKey } },
      expected: { code: 'invalid_api_key', shape, headers: noRetry },
    })),
    'an unknown model': [
      { ask: get('/v1/models/none'), expected: { code: 'model_not_found', shape: 'openai' } },
      {
        // Coding agents append this query.
        ask: { ...count(unknownModel), path: `${countTokensPath}?beta=true` },
        expected: { code: 'invalid_model', shape: 'messages', quotes: foreign },
      },
    ],
    'a picture for the text model': [
      {
        ask: count({ model, messages: [{ role: 'user', content: [picture] }] }),
        expected: { code: 'invalid_model', shape: 'messages' },
      },
    ],
    'a body that is not JSON': [{ ask: count('{'), expected: { code: 'invalid_request', shape: 'messages' } }],
    'an unknown encoding': [
      {
        ask: { ...count('{}'), headers: { ...headers, 'content-encoding': 'compress' } },
        expected: { code: 'unsupported_encoding', shape: 'messages', headers: { 'accept-encoding': /\bgzip\b/ } },
      },
    ],
    'a WebSocket handshake': [
      {
        ask: { method: 'GET', path: '/v1/responses', headers: { 'openai-beta': 'responses_websockets=2026-02-06' } },
        expected: { code: 'upgrade_required', shape: 'openai' },
      },
    ],
    'an unknown path': [{ ask: get('/v1/none'), expected: { code: 'not_found', shape: 'openai' } }],
    'a wrong method': inference.map(({ ask: { path }, shape }) => ({
      ask: get(path),
      expected: { code: 'method_not_allowed', shape, headers: { allow: /\bPOST\b/ } },
    })),
  };
  for (const [check, cases] of Object.entries(checks)) yield await examineCases(ask, check, cases, known.headerPrefix);
  yield await examineLarge(ask, count({ ...unknownModel, system: 'x'.repeat(4 * mebibyte) }), known.headerPrefix);
}

/** Many proxies refuse a long prompt: by default nginx takes no more than 1 MiB. The model is unknown, so it goes no further. */
async function examineLarge(ask: Probe, large: Ask, headerPrefix: string): Promise<Row> {
  const reply = await ask(large);
  const row = { area: 'errors', check: 'a large body' };
  if (faultInError(reply, { code: 'request_too_large', shape: 'messages' }, headerPrefix) === undefined) {
    return { ...row, ...untested('REQUEST_BODY_LIMIT is below 4 MiB; raise it to see larger bodies pass') };
  }
  const fault = faultInError(reply, { code: 'invalid_model', shape: 'messages' }, headerPrefix);
  return { ...row, ...(fault === undefined ? ok('4 MiB') : fail(`${reply.title}: ${fault}`)) };
}

/**
 * A body that unpacks to more than the limit is refused after the charge, which must be refunded. It is the only such failure
 * that can be caused from outside.
 */
export async function* examineTooLarge({ record }: Ledger, key: string, { headerPrefix }: Acquaintance) {
  const ask: Ask = {
    method: 'POST',
    path: chatProbe.path,
    headers: { ...chatProbe.keyHeaders(key), 'content-encoding': 'gzip' },
    body: unpacksTooLarge,
  };
  const expected = { code: 'request_too_large', shape: 'openai' } as const;
  yield await examineCases(record, 'a body that grows too large', [{ ask, expected }], headerPrefix);
}

export async function examineCases(
  ask: Probe,
  check: string,
  cases: readonly Case[],
  headerPrefix: string,
): Promise<Row> {
  const faults: string[] = [];
  for (const { ask: asked, expected } of cases) {
    const reply = await ask(asked);
    const fault = faultInError(reply, expected, headerPrefix);
    if (fault !== undefined) faults.push(`${reply.title}: ${fault}`);
  }
  const [first] = faults;
  return { area: 'errors', check, ...(first === undefined ? ok(`${cases.length} as documented`) : fail(first)) };
}
