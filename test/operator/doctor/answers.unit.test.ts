import { describe, expect, test } from '@jest/globals';
import {
  checkExposed,
  checkPreflight,
  checkStreamUsage,
  checkUsage,
  findMissingHeader,
} from '../../../operator/doctor/answers.ts';
import { faultInError } from '../../../operator/doctor/errors.ts';
import type { Reply } from '../../../operator/doctor/probe.ts';
import { testRows } from '../../support/test-rows.ts';

type Given = Readonly<Record<string, string | undefined>>;

function replyOf(text: string, type = 'application/json', more: Given = {}, status = 200): Reply {
  const all = Object.entries({ 'content-type': type, ...more }).filter(([, value]) => value !== undefined);
  const headers = new Headers(Object.fromEntries(all) as Record<string, string>);
  return { title: '', status, headers, text, arrivals: [], duration: 0 };
}
const plain = (usage?: object | null) => replyOf(JSON.stringify({ id: 'a', usage }));
const stream = (...values: readonly object[]) =>
  replyOf(values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join(''), 'text/event-stream');

const counted = { completion_tokens: 9, prompt_tokens: 12 };

/** What a check finds: nothing, or this fault. */
const finding = (fault: string) => ({ mark: fault === '' ? 'ok' : 'fail', detail: fault });
const [noInput, noOutput] = ['it reports 0 input tokens', 'it reports 0 output tokens'];

describe('an answer', () => {
  const usages: [object, fault: string][] = [
    [counted, ''],
    [{ output_tokens: 9 }, ''],
    [{ output_tokens: 9, input_tokens: 0, cache_read_input_tokens: 12 }, ''],
    [{ completion_tokens: 0, prompt_tokens: 12 }, noOutput],
    [{ output_tokens: 9, input_tokens: 0, cache_read_input_tokens: 0 }, noInput],
    [{ completion_tokens: 9, prompt_tokens: 0 }, noInput],
  ];
  testRows(usages)('reports tokens of its output and its input', (usage, fault) => {
    expect(checkUsage(plain(usage))).toEqual(finding(fault));
  });

  testRows([undefined, null, {}, { completion_tokens: null }])('without any is not tested', (usage) => {
    expect(checkUsage(plain(usage)).mark).toBe('untested');
  });
});

describe('a stream', () => {
  const texts = Array.from({ length: 5 }, () => ({ type: 'content_block_delta' }));
  /** One with a usage at its start, and one at its end. */
  const between = (start: object, ...end: object[]) =>
    stream({ type: 'message_start', message: { usage: start } }, ...texts, ...end.map((usage) => ({ usage })));
  const sized = (input: number, output: number) => ({ input_tokens: input, output_tokens: output });

  const usages: [string, Reply, fault: string][] = [
    ['at its end', stream(...texts, { usage: counted }), ''],
    ['in its completed response', stream(...texts, { response: { usage: { output_tokens: 4 } } }), ''],
    ['whose input is known only at its end', between(sized(0, 0), sized(3, 4)), ''],
    ['whose input is known only at its start', between(sized(3, 1), { output_tokens: 4 }), ''],
    ['of 0 at its end', between(sized(3, 1), { output_tokens: 0 }), noOutput],
    ['of no input', between(sized(0, 1), { output_tokens: 4 }), noInput],
    ['at its start only', between({ output_tokens: 1 }), 'it has none, unlike the plain answer'],
  ];
  testRows(usages)('reports them at its end or at its start', (_what, given, fault) => {
    expect(checkStreamUsage(given, plain(counted))).toEqual(finding(fault));
  });

  test('without any, like the plain answer, is not tested', () => {
    expect(checkStreamUsage(stream(...texts), plain()).mark).toBe('untested');
  });
});

describe('an error', () => {
  const message = 'The API key modèle is unknown.';
  const right = { message, type: 'invalid_request_error', code: 'invalid_api_key' };
  const headers = { 'x-svc-error': 'invalid_api_key', 'x-should-retry': 'false' };
  const latin1 = Buffer.from(message).toString('latin1');

  test.each<[what: string, body: unknown, fault: RegExp | undefined, more?: Given, status?: number]>([
    ['as documented', { error: right }, undefined],
    ['another status', { error: right }, /^expected 401 invalid_api_key, not 403 /, {}, 403],
    ['a page', '<html>', /^no JSON: 401 <html>/],
    ['another type', { error: right }, /^content-type is text\/plain$/, { 'content-type': 'text/plain' }],
    ['a member too many', { error: { ...right, param: null } }, /^error: Unrecognized key: "param"$/],
    ['another code', { error: { ...right, code: 'gone' } }, /^error\.code: /],
    ['another type of error', { error: { ...right, type: 'api_error' } }, /^error\.type: /],
    ['the other dialect', { type: 'error', error: right }, /^the body: Unrecognized key: "type"$/],
    ['changed letters', { error: { ...right, message: latin1 } }, /^error\.message: it does not quote modèle: /],
    ['another code in its header', { error: right }, /^x-svc-error is gone$/, { 'x-svc-error': 'gone' }],
    ['a header too few', { error: right }, /^x-should-retry is missing$/, { 'x-should-retry': undefined }],
  ])('with %s', (_what, body, fault, more = {}, status = 401) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const reply = replyOf(text, undefined, { ...headers, ...more }, status);
    const details = { quotes: 'modèle', headers: { 'x-should-retry': /^false$/ } };
    const found = faultInError(reply, 'invalid_api_key', 'x-svc-', details);
    expect(found).toEqual(fault && expect.stringMatching(fault));
  });

  test('of the other dialect has its own shape', () => {
    const text = JSON.stringify({ type: 'error', error: { type: 'authentication_error', message } });
    const faultIn = (body: string) => {
      const reply = { ...replyOf(body, undefined, headers, 401), title: 'POST /v1/messages' };
      return faultInError(reply, 'invalid_api_key', 'x-svc-');
    };
    expect(faultIn(text)).toBeUndefined();
    expect(faultIn(JSON.stringify({ error: right }))).toMatch(/^type: /);
  });
});

test.each<[changed: Given, fault: string | undefined]>([
  [{}, undefined],
  [{ 'access-control-allow-origin': undefined, vary: 'Origin' }, undefined],
  [{ 'x-svc-remaining': undefined }, 'x-svc-remaining is missing'],
  [{ 'x-svc-limit': 'many' }, 'x-svc-limit is many'],
  [{ 'x-request-id': undefined }, 'x-request-id is missing'],
  [{ 'request-id': undefined }, 'request-id is not x-request-id'],
  [{ 'cache-control': 'public' }, 'cache-control is public'],
  [{ 'access-control-allow-origin': undefined }, 'access-control-allow-origin is missing'],
])('every reply has its headers: %j', (changed, fault) => {
  const right = { 'x-svc-remaining': '1', 'x-svc-limit': '3', 'x-request-id': 'req_1', 'request-id': 'req_1' };
  const forPages = { 'cache-control': 'no-store', 'access-control-allow-origin': '*' };
  expect(findMissingHeader(replyOf('{}', undefined, { ...right, ...forPages, ...changed }), 'x-svc-')).toBe(fault);
});

describe('a page', () => {
  const origin = 'https://page.example';
  const list = 'authorization, content-type, x-api-key, api-key, x-stainless-lang';
  const may = { 'access-control-allow-origin': '*', 'access-control-allow-methods': 'GET, POST' };
  const allowed = { ...may, 'access-control-allow-headers': list };
  const figures = 'x-svc-remaining, x-svc-limit, x-svc-reset, x-svc-error';
  const exposed = {
    'access-control-expose-headers': `${figures}, x-request-id, request-id, retry-after, x-should-retry`,
  };
  const twice = { 'access-control-allow-origin': '*, *' };
  const [noBrowser, cookies] = [/is \*, \*, which no browser accepts$/, /^access-control-allow-credentials is set/];

  test.each<[changed: Given, status: number, fault: RegExp | undefined]>([
    [{}, 204, undefined],
    [{}, 401, /^answered 401/],
    [{ 'access-control-allow-methods': 'GET' }, 204, /^POST is not allowed$/],
    [{ 'access-control-allow-headers': 'authorization' }, 204, /^not allowed: content-type, /],
    [twice, 204, noBrowser],
    [{ 'access-control-allow-credentials': 'true' }, 204, cookies],
    [{ 'access-control-allow-origin': undefined }, 204, /no page can send requests$/],
    [{ 'access-control-allow-origin': undefined, vary: 'origin' }, 204, /^https:\/\/page\.example is not allowed$/],
  ])('may send its requests: %j, %s', (changed, status, fault) => {
    const { mark, detail } = checkPreflight(replyOf('', undefined, { ...allowed, ...changed }, status), origin);
    expect([mark, detail]).toEqual(fault ? ['fail', expect.stringMatching(fault)] : ['ok', `${origin} is allowed`]);
  });

  test.each<[changed: Given, fault: RegExp | undefined]>([
    [{}, undefined],
    [{ 'access-control-expose-headers': undefined }, /^not exposed: x-svc-remaining, .*x-should-retry$/],
    [twice, noBrowser],
    [{ 'access-control-allow-credentials': 'true' }, cookies],
  ])('may read what it needs: %j', (changed, fault) => {
    const { mark, detail } = checkExposed(replyOf('', undefined, { ...may, ...exposed, ...changed }), origin, 'x-svc-');
    expect([mark, detail]).toEqual(fault ? ['fail', expect.stringMatching(fault)] : ['ok', '']);
  });
});
