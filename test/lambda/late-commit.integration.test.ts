import { describe, expect, test } from '@jest/globals';
import { html, sse, until } from '../../local/upstream/script.ts';
import { type DialectName, dialectNames } from '../support/fixtures.ts';
import { createStreamReader } from '../support/stream-reader.ts';
import { testRows } from '../support/test-rows.ts';
import { startWatchedGateway, type WatchedGateway } from '../support/watched-gateway.ts';
import { canary, wire } from '../support/wire.ts';

const soon = { KEEP_ALIVE_INTERVAL: '0.05' };

async function open({ gateway }: WatchedGateway, dialect: DialectName): Promise<Response> {
  const { path, question } = wire[dialect];
  return gateway.post(path, { ...question, stream: true }, { 'x-api-key': canary.clientKey });
}

describe.each(dialectNames)('a stream of %s', (dialect: DialectName) => {
  const { events, keepAlive } = wire[dialect];
  const twice = new RegExp(`${keepAlive.source}${keepAlive.source.slice(1)}`);

  test('is kept alive while the upstream has not even sent its head', async () => {
    await using watched = await startWatchedGateway({ environment: soon });
    const { upstream } = watched.gateway;
    const released = Promise.withResolvers<void>();
    upstream.answer([until(released.promise), ...sse(events.join(''))]);
    const response = await open(watched, dialect);
    expect(response.status).toBe(200);
    const reader = createStreamReader(response);
    await reader.until(twice);
    released.resolve();
    expect(await reader.rest()).toMatch(canary.answer);
    const line = await watched.lineOf(response.headers.get('x-request-id'));
    expect(line).toMatchObject({ end: 'complete' });
  });

  testRows([
    ['a 500', html(500), 'upstream_error', 'server_error'],
    ['an error as its first event', sse(wire[dialect].failureEvent), 'upstream_error', 'reported'],
  ])('that was kept alive, and then fails: an error event, refunded', async (_name, script, code, reason) => {
    await using watched = await startWatchedGateway({ environment: soon });
    const before = await watched.remaining();
    const released = Promise.withResolvers<void>();
    watched.gateway.upstream.answer([until(released.promise), ...script]);
    const response = await open(watched, dialect);
    const reader = createStreamReader(response);
    await reader.until(keepAlive);
    released.resolve();
    const last = (await reader.rest()).split('\n\n').at(-2) ?? '';
    const type = wire[dialect].errorTypes[code] ?? 'none';
    const error = wire[dialect].errorEvent({ code, type, message: expect.stringMatching('not charged') }, 0);
    expect(JSON.parse(/^data: (.*)$/m.exec(last)?.[1] ?? '')).toEqual(error.data);
    expect(await watched.lineOf(response.headers.get('x-request-id'))).toMatchObject({ end: 'failed', reason, code });
    expect(await watched.remaining()).toBe(before);
  });
});
