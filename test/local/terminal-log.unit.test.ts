import { PassThrough } from 'node:stream';
import { expect, test } from '@jest/globals';
import { createTerminalLog } from '../../local/terminal-log.ts';

const time = '2026-11-21T12:00:00.000Z';
const clock = new Date(time).toTimeString().slice(0, 8);

/** A line as a terminal of this width shows it, after the time. */
function show(fields: object, { path = '/v1/chat/completions', columns = 120 } = {}): string {
  const terminal = Object.assign(new PassThrough({ encoding: 'utf8' }), { columns });
  const line = JSON.stringify({ time, level: 'info', message: 'answered', ...fields });
  createTerminalLog(terminal)(`${line}\n`, 'route' in fields ? { method: 'POST', path } : undefined);
  const shown: string = terminal.read();
  expect(shown).toMatch(/^[^\n]+\n$/);
  expect(shown.trimEnd().length).toBeLessThanOrEqual(columns || 120);
  expect(shown.slice(0, 10)).toBe(`${clock}  `);
  return shown.trimEnd().slice(10);
}

const route = '/v1/chat/completions';
const key = { caller: 'member', key: 'key_AbCdEfGhIjKl', member: 'hashed-member', network: 'hashed-network' };
const failed = { level: 'error', message: 'refused', status: 502, code: 'upstream_error', reason: 'server_error' };

const answered = { route, ...key, status: 200, duration: 1234, inputTokens: 12, outputTokens: 345 };
const guest = { route, caller: 'guest', network: 'hashed-network', ...failed, refunded: true };
const linked = { route, caller: 'member', member: 'hashed-member', status: 200, duration: 7, end: 'client_gone' };
const cut = { route, ...key, level: 'error', status: 200, duration: 7, end: 'failed', reason: 'cut', refunded: true };
const uncounted = { route, ...key, status: 200, duration: 7, usage: 'absent', refunded: false };

test.each<[what: string, columns: number, fields: object, shown: string]>([
  ['answered', 120, answered, 'POST /v1/chat/completions       key_AbCdEfGhIjKl  200   1.2 s  12 in, 345 out'],
  [
    'of a guest, refused and refunded',
    120,
    { ...guest, duration: 130_000 },
    'POST /v1/chat/completions       guest             502   130 s  refunded  upstream_error server_error',
  ],
  [
    'of a linked network, whose client has gone',
    120,
    linked,
    'POST /v1/chat/completions       member hashed-m   200    7 ms  client gone',
  ],
  [
    'whose stream broke off',
    120,
    cut,
    'POST /v1/chat/completions       key_AbCdEfGhIjKl  200    7 ms  broken off  refunded  cut',
  ],
  [
    'of which no tokens are known',
    120,
    uncounted,
    'POST /v1/chat/completions       key_AbCdEfGhIjKl  200    7 ms  no token counts',
  ],
  ['with shorter columns', 80, answered, 'POST /v1/chat/complet…  key_AbCd…  200   1.2 s  12 in, 345 out'],
  ['without its end', 60, answered, 'POST /v1/chat/complet…  key_AbCd…  200   1.2 s  1…'],
  ['with only its start', 20, answered, 'POST /v1/…'],
  ['of no known width', 0, answered, 'POST /v1/chat/completions       key_AbCdEfGhIjKl  200   1.2 s  12 in, 345 out'],
  [
    'of which the refund is told first',
    80,
    { ...guest, duration: 20 },
    'POST /v1/chat/complet…  guest      502   20 ms  refunded  upstream_er…',
  ],
])('a request %s, in %d columns', (_what, columns, fields, shown) => {
  expect(show(fields, { columns })).toBe(shown);
});

test('a request shows nothing of its path that a terminal would obey, and no key', () => {
  const path = '/v1/\u001b[2J\u009b1m\u202e\r\n/ltk_secret-Key_1/x';
  expect(show({ route: 'unknown', status: 404, code: 'not_found', duration: 1 }, { path })).toBe(
    'POST /v1/?[2J?1m???/ltk_…/x     -                 404    1 ms  not_found',
  );
});

test('lines of the pages name their route, and what they granted', () => {
  const terminal = new PassThrough({ encoding: 'utf8' });
  const granted = { level: 'info', message: 'granted', route: 'POST /cli/keys/issue', keyId: 'key_AbCdEfGhIjKl' };
  createTerminalLog(terminal)(JSON.stringify({ time, ...granted }));
  expect(terminal.read()).toMatch(/ {2}POST \/cli\/keys\/issue {2,}- .* granted key_AbCdEfGhIjKl\n$/);
});

test('other lines show their message and facts, without metrics and places in the code', () => {
  const facts = { level: 'warn', message: 'upstream failed', requestId: 'req_1', kind: 'limited', upstreamStatus: 429 };
  const metrics = { _aws: { Timestamp: 1 }, UpstreamFailures: 1, Class: 'limited', at: ['at x (y.ts:1:1)'] };
  expect(show({ ...facts, ...metrics })).toBe('upstream failed  kind=limited upstreamStatus=429');
  expect(show({ message: 'started', commit: 'a'.repeat(300) }, { columns: 40 })).toHaveLength(30);
});
