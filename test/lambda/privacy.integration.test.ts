import { describe, expect, test } from '@jest/globals';
import { html, json, reset, type Script, silence, sse } from '../../local/upstream/script.ts';
import type { TestGateway } from '../support/gateway.ts';
import { expectQuiet, startWatchedGateway } from '../support/watched-gateway.ts';
import { canary, wire } from '../support/wire.ts';

/** What a client may reveal about itself. */
const personal = {
  'user-agent': 'canary-of-the-user-agent',
  cookie: 'session=canary-of-the-cookie',
  'x-forwarded-for': '203.0.113.77',
  forwarded: 'for=203.0.113.77',
  origin: 'https://canary-of-the-origin.example',
  referer: 'https://canary-of-the-referer.example',
};
const leak = `AcmeCorp says ${canary.upstreamBody}`;
const fast = { REQUEST_TIMEOUT: '0.2', UPSTREAM_IDLE_TIMEOUT: '0.1' };

function expectNothingPersonal({ log }: TestGateway): void {
  expectQuiet(log);
  expect(JSON.stringify(log)).not.toMatch(/canary|203\.0\.113|::1|::ffff/);
}

describe('the log of a gateway', () => {
  const { path, question, events, answer, failureEvent } = wire.responses;
  const outcomes: readonly (readonly [string, boolean, Script])[] = [
    ['an answer', false, json(200, answer)],
    ['a stream', true, sse(events.join(''))],
    ['429', false, json(429, { error: { message: leak } })],
    ['no answer', false, [silence]],
    ['a lost connection', false, [reset]],
    ['what is no answer', false, html(200, leak)],
    ['an error', true, sse(failureEvent)],
    ['a cut', true, sse(events.slice(0, 2).join(''))],
    ['broken events', true, sse(`${events[0]}data: {"${leak}\n\n`)],
  ];

  test('holds nothing that callers and upstreams said, nor who they are', async () => {
    await using watched = await startWatchedGateway({ environment: fast });
    const { gateway } = watched;
    const memberKey = await gateway.issueKey();
    for (const [name, stream, script] of outcomes) {
      for (const key of [canary.clientKey, memberKey]) {
        const lines = gateway.log.length;
        gateway.upstream.answer(script);
        const response = await gateway.post(
          path,
          { ...question, stream },
          { ...personal, authorization: `Bearer ${key}` },
        );
        await response.text();
        await watched.lineOf(response.headers.get('x-request-id'));
        expect([name, gateway.log.length > lines]).toEqual([name, true]);
      }
    }
    // The data that must not leak was really in the request.
    expect(gateway.upstream.requests.every(({ body }) => body.includes(canary.prompt))).toBe(true);
    expectNothingPersonal(gateway);
    expect(JSON.stringify(gateway.log)).not.toMatch(memberKey);
  });

  test('nor when the gateway refuses', async () => {
    await using watched = await startWatchedGateway({ environment: { GUEST_LIMIT: '5' } });
    const { gateway } = watched;
    const key = { ...personal, 'x-api-key': canary.clientKey };
    const attempts: readonly (readonly [string, unknown, Record<string, string>])[] = [
      [path, question, personal],
      [path, question, { ...personal, 'x-api-key': 'ltk_canary-of-a-key' }],
      [`/v1/${canary.prompt}`, question, key],
      [`${path}?key=${canary.clientKey}`, { ...question, model: canary.prompt }, key],
      [path, `{"model":"svc","${canary.prompt}`, key],
      [path, { ...question, messages: canary.prompt, input: { text: canary.prompt } }, key],
      [path, { ...question, stream: canary.prompt }, key],
      [path, { ...question, model: 'svc', [canary.prompt]: '['.repeat(3) }, { ...key, 'anthropic-beta': 'é canary' }],
      [path, question, key],
      [path, question, key],
    ];
    gateway.upstream.otherwise(html(422, leak));
    for (const [address, body, headers] of attempts) {
      const response = await gateway.post(address, body, headers);
      expect(await response.text()).not.toMatch(/canary-of-the-client-key|canary-of-a-key/);
      expect(response.status).toBeGreaterThanOrEqual(400);
    }
    await gateway.dynamoDb.close();
    expect((await gateway.post(path, question, key)).status).toBe(503);
    expect(gateway.log.length).toBeGreaterThan(attempts.length);
    expectNothingPersonal(gateway);
  });
});
