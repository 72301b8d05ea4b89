import { expect, test } from '@jest/globals';
import { json } from '../../local/upstream/script.ts';
import { startTestGateway } from '../support/gateway.ts';
import { wire } from '../support/wire.ts';

const trace = '0af7651916cd43dd8448eb211c80319c';
const traceparent = `00-${trace}-b7ad6b7169203331-01`;
const { path, question, answer } = wire.chat;

/** The log line of a request with this header, and the same header as the upstream gets it. */
async function ask(environment: Record<string, string>, header: string) {
  await using gateway = await startTestGateway({ environment });
  gateway.upstream.answer(json(200, answer));
  const response = await gateway.post(path, question, { 'x-api-key': 'guest', traceparent: header, tracestate: 'a=b' });
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  const { headers } = await gateway.upstream.arrival(0);
  expect(headers.tracestate).toBeUndefined();
  return { line: gateway.log.at(-1), sent: headers.traceparent };
}

test('a trace is logged, and not forwarded', async () => {
  const { line, sent } = await ask({}, traceparent);
  expect([line?.trace, sent]).toEqual([trace, undefined]);
});

test('with UPSTREAM_TRACE it is forwarded, as a child of the gateway’s span', async () => {
  const { line, sent } = await ask({ UPSTREAM_TRACE: 'true' }, traceparent);
  expect(line?.trace).toBe(trace);
  expect(sent).toMatch(new RegExp(`^00-${trace}-(?!b7ad6b7169203331)[0-9a-f]{16}-01$`));
});

test('an invalid trace is neither logged nor forwarded', async () => {
  const { line, sent } = await ask({ UPSTREAM_TRACE: 'true' }, '00-canary-of-the-header-01');
  expect([line?.trace, sent]).toEqual([undefined, undefined]);
});
