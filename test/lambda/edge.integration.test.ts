import { describe, expect, test } from '@jest/globals';

import { cloudFrontHeader, originSecretHeader } from '../../lambda/identity/network.ts';
import { json } from '../../local/upstream/script.ts';

import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { testRows } from '../support/test-rows.ts';

const answer = json(200, { id: 'x', object: 'chat.completion', model: 'm', choices: [] });
const question = { model: 'svc', messages: [{ role: 'user', content: 'Hello' }] };
const guest = { 'x-api-key': 'guest' };

const ask = (gateway: TestGateway, headers: Record<string, string> = {}) =>
  gateway.post('/v1/chat/completions', question, { ...guest, ...headers });

/** A gateway behind CloudFront whose secret a test may replace. */
async function startBehindEdge() {
  const versions = { current: 'one', previous: '' };
  const clock = { now: Date.UTC(2026, 5, 15) };
  const gateway = await startTestGateway({
    environment: { EDGE_HEADER: cloudFrontHeader, EDGE_SECRET_ID: 'edge-secret' },
    now: () => clock.now,
    readSecret: async (_id: string, version: 'previous' | 'current' = 'current') => versions[version],
  });
  gateway.upstream.otherwise(answer);
  const via = (address: string, secret = 'one') => ({ [originSecretHeader]: secret, [cloudFrontHeader]: address });
  return { gateway, versions, clock, via, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() };
}

const remaining = ({ headers }: Response) => headers.get('x-svc-remaining');

describe('behind the edge', () => {
  test('each viewer is a network of its own, by the address that the edge names', async () => {
    await using edge = await startBehindEdge();
    const { gateway, via } = edge;
    const answers = [
      await ask(gateway, via('203.0.113.7:1')),
      await ask(gateway, via('203.0.113.7:2')),
      await ask(gateway, via('203.0.113.8:1')),
      await ask(gateway, { ...via('203.0.113.7:3'), 'x-forwarded-for': '203.0.113.9' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(answers.map(remaining)).toEqual(['2', '1', '2', '0']);
    expect(gateway.upstream.requests.flatMap(({ headers }) => Object.keys(headers))).not.toContain(originSecretHeader);
  });

  testRows([
    ['without the secret', { [cloudFrontHeader]: '203.0.113.7:1' }],
    ['with a wrong secret', { [cloudFrontHeader]: '203.0.113.7:1', [originSecretHeader]: 'two' }],
    ['with nothing at all', {}],
  ])('around it there is nothing', async (_name, headers: Record<string, string>) => {
    await using edge = await startBehindEdge();
    const { gateway } = edge;
    const paths = ['/v1/models', '/v1/messages', '/nowhere'];
    for (const path of paths) {
      const response = await fetch(gateway.url + path, { headers: { ...guest, ...headers } });
      expect([response.status, response.headers.get('x-svc-error')]).toEqual([404, 'not_found']);
      expect(await response.text()).not.toMatch(/edge|secret|cloudfront/i);
    }
    const preflight = { ...headers, origin: 'https://app.example', 'access-control-request-method': 'POST' };
    const response = await fetch(`${gateway.url}/v1/messages`, { method: 'OPTIONS', headers: preflight });
    expect(response.status).toBe(404);
    expect((await ask(gateway, headers)).status).toBe(404);
    expect(gateway.upstream.requests).toEqual([]);
    expect(gateway.log).toContainEqual(expect.objectContaining({ code: 'not_found', reason: 'around_edge' }));
  });

  test('a new secret is accepted beside the previous one within a minute', async () => {
    await using edge = await startBehindEdge();
    const { gateway, versions, clock, via } = edge;
    const statuses = async () => {
      const answers = [
        await ask(gateway, via('203.0.113.7:1', 'one')),
        await ask(gateway, via('203.0.113.8:1', 'two')),
      ];
      return answers.map(({ status }) => status);
    };
    expect(await statuses()).toEqual([200, 404]);
    Object.assign(versions, { current: 'two', previous: 'one' });
    clock.now += 60_000;
    expect(await statuses()).toEqual([200, 200]);
    Object.assign(versions, { current: 'three', previous: 'two' });
    clock.now += 60_000;
    expect(await statuses()).toEqual([404, 200]);
  });
});
