import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { dialectNames } from '../support/fixtures.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { metricsOf } from '../support/metrics.ts';
import { wire } from '../support/wire.ts';

const guest = { 'x-api-key': 'guest' };
const refunding = { REFUND_REFUSALS: 'true' };

/** A refusal as a client sees it: the status, the quota left, and the sentence about the charge. */
async function refusalOf(response: Response) {
  const { error } = (await response.json()) as { error: { message: string } };
  return { status: response.status, left: response.headers.get('x-svc-remaining'), message: error.message };
}

const mistyped = { model: 'swc', messages: [], input: '' };
const ask = async ({ post }: TestGateway, path: string, body: unknown = mistyped, headers = {}) =>
  refusalOf(await post(path, body, { ...guest, ...headers }));

describe.each(dialectNames)('a body of %s that the gateway refuses', (dialect) => {
  const { path } = wire[dialect];

  test('is charged, says so, and says how many requests are left, until the last one names the cause', async () => {
    await using gateway = await startTestGateway();
    const told = [await ask(gateway, path), await ask(gateway, path), await ask(gateway, path)];
    expect(told).toEqual([
      { status: 400, left: '2', message: expect.stringMatching(/\. This request was charged; 2 requests are left\.$/) },
      { status: 400, left: '1', message: expect.stringMatching(/\. This request was charged; 1 request is left\.$/) },
      {
        status: 400,
        left: '0',
        message: expect.stringMatching(/\. This request was charged; no requests are left\.$/),
      },
    ]);
    const last = await ask(gateway, path);
    expect(last).toEqual({ status: 429, left: '0', message: expect.stringMatching(/refused with a 400 counted too/) });
    expect(gateway.upstream.requests).toEqual([]);
  });

  test('is refunded with REFUND_REFUSALS, again and again, and says so', async () => {
    await using gateway = await startTestGateway({ environment: refunding });
    for (let round = 0; round < 6; round += 1) {
      const message = expect.stringMatching(/\. This request was not charged; 3 requests are left\.$/);
      expect(await ask(gateway, path)).toEqual({ status: 400, left: '3', message });
    }
    expect(gateway.log.map(({ refunded }) => refunded)).toEqual(Array(6).fill(true));
    // The alarm about a failing upstream counts refunds.
    for (const line of gateway.log) expect(metricsOf(line)).not.toHaveProperty('Refunds');
  });
});

test('a body that can’t be decoded is charged, and one that decodes to too much is not', async () => {
  for (const [environment, charged] of [
    [{}, 'charged; 2 requests are left.'],
    [refunding, 'not charged; 3 requests are left.'],
  ] as const) {
    await using gateway = await startTestGateway({ environment: { ...environment, REQUEST_BODY_LIMIT: '1' } });
    const send = async (body: Buffer) => {
      const headers = { ...guest, 'content-type': 'application/json', 'content-encoding': 'gzip' };
      return refusalOf(await fetch(gateway.url + wire.chat.path, { method: 'POST', headers, body }));
    };
    const left = environment === refunding ? '3' : '2';
    const damaged = expect.stringMatching(`This request was ${charged}`);
    expect(await send(Buffer.from('no gzip'))).toEqual({ status: 400, left, message: damaged });
    const refunded = expect.stringMatching(/ This request was not charged\.$/);
    expect(await send(gzipSync(' '.repeat(1_100_000)))).toEqual({ status: 413, left, message: refunded });
  }
});
