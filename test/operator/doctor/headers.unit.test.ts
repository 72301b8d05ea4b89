import { expect, test } from '@jest/globals';
import { checkCors, findMissingHeader } from '../../../operator/doctor/headers.ts';
import { testRows } from '../../support/test-rows.ts';

type Headers = Readonly<Record<string, string>>;

/** A reply with these headers, of which an empty one is missing. */
function reply(headers: Headers, status = 200) {
  const there = Object.entries(headers).filter(([, value]) => value !== '');
  return { title: 'GET /', status, headers: new Headers(there), text: '', sentAt: 0, arrivals: [] };
}

const always = {
  ...{ 'x-svc-remaining': '1', 'x-svc-limit': '3', 'x-request-id': 'req_1', 'request-id': 'req_1' },
  'cache-control': 'no-store',
};
const lacking: [Headers, string | undefined][] = [
  [{}, undefined],
  [{ 'x-svc-remaining': '' }, 'x-svc-remaining is missing'],
  [{ 'x-svc-limit': 'many' }, 'x-svc-limit is many'],
  [{ 'x-request-id': '' }, 'x-request-id is missing'],
  [{ 'request-id': 'req_2' }, 'request-id is not x-request-id'],
  [{ 'cache-control': 'public' }, 'cache-control is public'],
];
testRows(lacking)('every reply has these headers', (changed, fault) => {
  expect(findMissingHeader(reply({ ...always, ...changed }), 'x-svc-')).toBe(fault);
});

const cors = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST, OPTIONS',
  'access-control-allow-headers': 'authorization, content-type, x-api-key, api-key, x-stainless-lang',
  'access-control-expose-headers':
    'x-svc-remaining, x-svc-limit, x-svc-reset, x-svc-error, x-request-id, request-id, retry-after, x-should-retry',
};

/** What is said of a preflight and of an answer, where all replies have such headers. */
async function corsOf(changed: Headers, origin = 'https://page.example', status = 200) {
  const ask = async () => reply({ ...cors, ...changed }, status);
  const said: string[] = [];
  for await (const [, { mark, detail }] of checkCors({ ask, key: 'ltk_x', origin, headerPrefix: 'x-svc-' })) {
    said.push(`${mark} ${detail}`.trim());
  }
  const [preflight, answer, error] = said;
  expect(error).toBe(answer);
  return [preflight, answer];
}

test('a page can send requests, and read answers and errors', async () => {
  expect(await corsOf({})).toEqual(['ok https://page.example is allowed', 'ok']);
  const listed = { 'access-control-allow-origin': 'https://page.example', vary: 'origin' };
  expect(await corsOf(listed)).toEqual(await corsOf({}));
});

const [credentials, twice, missing] = [
  "fail access-control-allow-credentials is set: any page could send its visitors' cookies",
  'fail access-control-allow-origin is *, *, which no browser accepts',
  'fail access-control-allow-origin is missing: no page can send requests',
];
const exposed = cors['access-control-expose-headers'];
const broken: [Headers, [string, string]][] = [
  [{ 'access-control-allow-methods': '' }, ['fail POST is not allowed', 'ok']],
  [
    { 'access-control-allow-headers': 'authorization' },
    ['fail not allowed: content-type, x-api-key, api-key, x-stainless-lang', 'ok'],
  ],
  [{ 'access-control-allow-origin': '*, *' }, [twice, twice]],
  [{ 'access-control-allow-credentials': 'true' }, [credentials, credentials]],
  [{ 'access-control-expose-headers': '' }, ['ok https://page.example is allowed', `fail not exposed: ${exposed}`]],
  [{ 'access-control-allow-origin': '' }, [missing, missing]],
];
testRows(broken)('what keeps pages out is named', async (changed, said) => {
  expect(await corsOf(changed)).toEqual(said);
});

test('a preflight that is refused, and an origin that is not on the list', async () => {
  expect((await corsOf({}, undefined, 401))[0]).toBe('fail answered 401');
  const unlisted = { 'access-control-allow-origin': '', vary: 'accept, origin' };
  expect(await corsOf(unlisted)).toEqual(Array(2).fill('fail https://page.example is not allowed'));
  const unknown = 'untested not tested: only listed origins are allowed; name one with --origin';
  expect(await corsOf(unlisted, 'https://doctor.example')).toEqual([unknown, unknown]);
});
