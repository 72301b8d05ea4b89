import { PassThrough } from 'node:stream';
import { expect, test } from '@jest/globals';
import { createTerminalLog } from '../../local/terminal-log.ts';
import { testRows } from '../support/test-rows.ts';

const time = '2026-11-21T12:00:00.000Z';
const clock = new Date(time).toTimeString().slice(0, 8);

/** A line as it is shown, after the time. */
function show(fields: object, path = '/v1/chat/completions'): string {
  const terminal = new PassThrough({ encoding: 'utf8' });
  const line = JSON.stringify({ time, level: 'info', message: 'answered', ...fields });
  createTerminalLog(terminal)(`${line}\n`, 'route' in fields ? { method: 'POST', path } : undefined);
  const shown: string = terminal.read();
  expect(shown).toMatch(/^[^\n]+\n$/);
  expect(shown.slice(0, 10)).toBe(`${clock}  `);
  return shown.trimEnd().slice(10);
}

const route = '/v1/chat/completions';
const key = { caller: 'member', key: 'key_AbCdEfGhIjKl', member: 'hashed-member', network: 'hashed-network' };
const failed = { level: 'error', message: 'refused', status: 502, code: 'upstream_error', reason: 'server_error' };

const answered = { route, ...key, status: 200, duration: 1234, inputTokens: 12, outputTokens: 345 };
const guest = { route, caller: 'guest', network: 'hashed-network', ...failed, refunded: true };
const unreachable = { ...guest, reason: 'unreachable', cause: 'Error', causeCode: 'ECONNREFUSED', duration: 7 };
const credentials = { ...guest, reason: 'credentials', upstreamStatus: 401, duration: 7 };
const slow = { ...guest, reason: 'timeout', cause: 'TimeoutError', duration: 7 };
const linked = { route, caller: 'member', member: 'hashed-member', status: 200, duration: 7, end: 'client_gone' };
const cut = { route, ...key, level: 'error', status: 200, duration: 7, end: 'failed', reason: 'cut', refunded: true };
const uncounted = { route, ...key, status: 200, duration: 7, usage: 'absent', refunded: false };

testRows<[fields: object, shown: string]>([
  [answered, 'key_AbCdEfGhIjKl  200   1.2 s  12 in, 345 out'],
  [{ ...guest, duration: 130_000 }, 'guest             502   130 s  refunded  upstream_error server_error'],
  [unreachable, 'guest             502    7 ms  refunded  upstream_error unreachable ECONNREFUSED'],
  [credentials, 'guest             502    7 ms  refunded  upstream_error credentials 401'],
  [
    { ...guest, reason: 'missing', upstreamStatus: 404, duration: 7, hint: 'do this' },
    'guest             502    7 ms  refunded  upstream_error missing 404  do this',
  ],
  [slow, 'guest             502    7 ms  refunded  upstream_error timeout TimeoutError'],
  [linked, 'member hashed-m   200    7 ms  client gone'],
  [cut, 'key_AbCdEfGhIjKl  200    7 ms  broken off  refunded  cut'],
  [uncounted, 'key_AbCdEfGhIjKl  200    7 ms  no token counts'],
])('a request has one line, in columns', (fields, shown) => {
  expect(show(fields)).toBe(`POST /v1/chat/completions       ${shown}`);
});

test('a request shows nothing of its path that a terminal would obey, no key, and not all of a long one', () => {
  const path = '/v1/\u001b[2J\u009b1m\u202e\r\n/ltk_secret-Key_1/x';
  const unknown = { route: 'unknown', status: 404, code: 'not_found', duration: 1 };
  expect(show(unknown, path)).toBe('POST /v1/?[2J?1m???/ltk_…/x     -                 404    1 ms  not_found');
  expect(show(unknown, `/${'x'.repeat(8_000)}`)).toMatch(/^POST \/x{78}… {2}- .* not_found$/);
});

test('lines of the pages name their route, and what they granted', () => {
  const terminal = new PassThrough({ encoding: 'utf8' });
  const granted = { level: 'info', message: 'granted', route: 'POST /cli/keys/issue', keyId: 'key_AbCdEfGhIjKl' };
  createTerminalLog(terminal)(JSON.stringify({ time, ...granted }));
  expect(terminal.read()).toMatch(/ {2}POST \/cli\/keys\/issue {2,}- .* granted key_AbCdEfGhIjKl\n$/);
});

test('no fact of another line is obeyed by a terminal', () => {
  const facts = { level: 'warn', message: 'upstream failed', reason: 'a\u001b[2J\u009b\u202eb\nc' };
  expect(show(facts)).toBe('upstream failed  reason=a?[2J??b?c');
});

test('other lines show their message and facts, without metrics and places in the code', () => {
  const facts = { level: 'warn', message: 'upstream failed', requestId: 'req_1', kind: 'limited', upstreamStatus: 429 };
  const metrics = { _aws: { Timestamp: 1 }, UpstreamFailures: 1, Class: 'limited', at: ['at x (y.ts:1:1)'] };
  expect(show({ ...facts, ...metrics })).toBe('upstream failed  kind=limited upstreamStatus=429');
});
