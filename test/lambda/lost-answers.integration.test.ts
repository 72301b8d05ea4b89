import { expect } from '@jest/globals';
import { hangUp, json, type Script, sse } from '../../local/upstream/script.ts';
import { chargesIn } from '../support/quota.ts';
import type { SpoilStore, StoreFault, StoreOperation } from '../support/store-proxy.ts';
import { testRows } from '../support/test-rows.ts';
import { startWatchedGateway } from '../support/watched-gateway.ts';
import { canary, wire } from '../support/wire.ts';

const { path, question, events } = wire.messages;

/** A gateway with a faulty proxy in front of its tables, and one request to it. */
async function startSpoilt(spoilStore: SpoilStore) {
  const watched = await startWatchedGateway({ spoilStore });
  const { gateway } = watched;
  return {
    gateway,
    standing: () => gateway.log.filter(({ message }) => message === 'charge left standing'),
    async ask(stream = false) {
      const response = await gateway.post(path, { ...question, stream }, { 'x-api-key': canary.clientKey });
      await response.text();
      const line = await watched.lineOf(response.headers.get('x-request-id'));
      return { status: response.status, charges: await chargesIn(gateway), line };
    },
    [Symbol.asyncDispose]: watched[Symbol.asyncDispose],
  };
}

const isRefund = ({ body }: Pick<StoreOperation, 'body'>) => body.includes(':minusOne');
const isCharge = ({ name, body }: StoreOperation) => name === 'UpdateItem' && !isRefund({ body });

// To the gateway, a lost request looks like a lost response, and a failing store may have applied the write anyway.
testRows<[string, (attempt: number) => StoreFault, charges: 0 | 1, logged: object[], object?]>([
  ['request lost', () => 'request lost', 0, [{ cause: 'NoAnswer' }]],
  ['failing', () => 'failing', 0, [{ cause: 'InternalServerError' }]],
  ['throttled', () => 'throttled', 0, []],
  ['answer lost', () => 'answer lost', 1, [{ cause: 'NoAnswer' }]],
  ['silent', () => 'silent', 1, [{ cause: 'TooSlow' }]],
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

testRows<[StoreFault, boolean, Script, status: number]>([
  ['request lost', false, json(500, {}), 500],
  ['answer lost', true, [...sse(events[0] ?? ''), hangUp], 200],
  ['silent', false, json(500, {}), 500],
])(
  'if it never answers a refund, that is logged, and the client gets its answer',
  async (fault, stream, script, status) => {
    await using spoilt = await startSpoilt((operation) => (isRefund(operation) ? fault : undefined));
    spoilt.gateway.upstream.answer(script);
    const { line, ...asked } = await spoilt.ask(stream);
    expect(asked).toEqual({ status, charges: fault === 'request lost' ? 1 : 0 });
    expect(spoilt.standing()).toMatchObject([{ operation: 'refund', requestId: line.requestId }]);
  },
);
