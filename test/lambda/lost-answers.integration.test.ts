import { expect, test } from '@jest/globals';
import { json } from '../../local/upstream/script.ts';
import { chargesIn } from '../support/quota.ts';
import type { SpoilStore, StoreFault, StoreOperation } from '../support/store-proxy.ts';
import { testRows } from '../support/test-rows.ts';
import { startWatchedGateway } from '../support/watched-gateway.ts';
import { canary, wire } from '../support/wire.ts';

const { path, question } = wire.messages;

/** A gateway with a faulty proxy in front of its tables, and one request to it. */
async function startSpoilt(spoilStore: SpoilStore) {
  const watched = await startWatchedGateway({ spoilStore });
  const { gateway } = watched;
  return {
    gateway,
    standing: () => gateway.log.filter(({ message }) => message === 'charge left standing'),
    async ask() {
      const response = await gateway.post(path, question, { 'x-api-key': canary.clientKey });
      await response.text();
      const line = await watched.lineOf(response.headers.get('x-request-id'));
      return { status: response.status, charges: await chargesIn(gateway), line };
    },
    [Symbol.asyncDispose]: watched[Symbol.asyncDispose],
  };
}

const isRefund = ({ body }: Pick<StoreOperation, 'body'>) => body.includes(':minusOne');
const isCharge = ({ name, body }: StoreOperation) => name === 'UpdateItem' && !isRefund({ body });

testRows<[string, (attempt: number) => StoreFault, charges: 0 | 1, logged: object[], object?]>([
  // A lost answer looks like a lost request, and a failing store may have applied the write anyway; a throttled one has not.
  ['answer lost', () => 'answer lost', 1, [{ cause: 'NoAnswer' }]],
  ['throttled', () => 'throttled', 0, []],
  [
    'answer lost, and its repeat refused',
    (attempt) => (attempt === 1 ? 'answer lost' : 'refusing'),
    1,
    [{ cause: 'ExpiredTokenException' }],
    { reason: 'answer_lost', cause: 'ExpiredTokenException' },
  ],
])('if the store never answers a charge, nothing is sent upstream', async (_, fault, charges, logged, more = {}) => {
  await using spoilt = await startSpoilt((operation) => (isCharge(operation) ? fault(operation.attempt) : undefined));
  const asked = await spoilt.ask();
  expect(asked).toMatchObject({ status: 503, charges });
  expect(asked.line).toMatchObject({ message: 'refused', code: 'service_unavailable', ...more });
  const { requestId } = asked.line;
  const lines = logged.map((one) => ({ ...one, requestId, operation: 'charge', ChargesLeftStanding: 1 }));
  expect(spoilt.standing()).toMatchObject(lines);
  expect(spoilt.gateway.upstream.requests).toEqual([]);
});

test('if it never answers a refund, that is logged, and the client gets its answer', async () => {
  await using spoilt = await startSpoilt((operation) => (isRefund(operation) ? 'request lost' : undefined));
  spoilt.gateway.upstream.answer(json(500, {}));
  const { line, ...asked } = await spoilt.ask();
  expect(asked).toEqual({ status: 500, charges: 1 });
  expect(spoilt.standing()).toMatchObject([{ operation: 'refund', requestId: line.requestId }]);
});
