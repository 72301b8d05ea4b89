import { request as httpRequest } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { eventText, hangUp, json, type Script, silence, until, write } from '../../local/upstream/script.ts';
import type { TestGateway } from '../support/gateway.ts';
import {
  answerWith,
  body,
  chunk,
  eventHead,
  inputCost,
  last,
  path,
  piece,
  pieceCost,
  settled,
  startPricedGateway,
  streamed,
} from '../support/priced-gateway.ts';
import { chargesIn } from '../support/quota.ts';
import { testRows } from '../support/test-rows.ts';
import { waitUntil } from '../support/wait-until.ts';

describe('a client that disconnects', () => {
  /** As with hidden reasoning, which only the upstream can count. */
  const dear = { prompt_tokens: 50, completion_tokens: 900 };
  const dearCost = 50 * 3 + 900 * 15;
  const dearEnd = [last, chunk({ choices: [], usage: dear }), { data: '[DONE]' }].map(eventText).join('');

  const linesOf = ({ log }: Pick<TestGateway, 'log'>) => log.filter(({ end }) => end === 'client_gone');

  /** Sends a request, and disconnects once the upstream has it or the answer has started; `goOn` sends the rest. */
  async function leave(
    web: Awaited<ReturnType<typeof startPricedGateway>>,
    key: string,
    sent: string,
    begun: Script,
    rest: Script,
  ) {
    const gone = linesOf(web).length;
    const left = Promise.withResolvers<void>();
    web.upstream.answer([...begun, until(left.promise), ...rest]);
    const answered = Promise.withResolvers<void>();
    const outgoing = httpRequest(web.url + path, { method: 'POST', agent: false, headers: { 'x-api-key': key } });
    outgoing.on('error', () => {}).on('response', (response) => response.once('data', answered.resolve));
    outgoing.end(sent);
    const asked = await web.upstream.arrival(web.upstream.requests.length);
    if (begun.length > 0) await answered.promise;
    outgoing.destroy();
    // The gateway gets this after it has noticed that the client disconnected.
    await web.usageOf(key);
    const goOn = async () => {
      left.resolve();
      return waitUntil(() => linesOf(web)[gone], 'the line of the request');
    };
    return { asked, goOn };
  }

  const begun = [eventHead, write(eventText(piece))];
  const parts = 'the larger of what was counted and estimated';
  const rows: readonly [string, string, Script, Script, number][] = [
    ['a stream pays its usage', streamed, begun, [write(dearEnd)], dearCost],
    ['before a plain answer pays its usage', body, [], answerWith(dear), dearCost],
    [`a stream that breaks pays ${parts}`, streamed, begun, [hangUp], inputCost(streamed) + pieceCost],
    ['what is refused pays nothing', body, [], json(400, { error: {} }), 0],
    ['what fails pays its prompt', body, [], json(500, { error: {} }), inputCost(body)],
  ];
  test.each(['web', 'function-url'] as const)('with a budget (%s)', async (engine) => {
    await using web = await startPricedGateway({ engine });
    for (const [index, [name, sent, before, after, micros]] of rows.entries()) {
      const key = await web.issue();
      const { goOn } = await leave(web, key, sent, before, after);
      const line = await goOn();
      expect([name, await chargesIn(web), await web.usageOf(key)]).toMatchObject([name, index + 1, settled(micros)]);
      expect([name, line.cost ?? 0, line.refunded, web.faults]).toEqual([name, micros / 1_000_000, false, []]);
    }
  });

  test('without a budget pays what has come, and the rest is not read', async () => {
    await using web = await startPricedGateway({ engine: 'web' });
    const unread = [write(eventText(piece)), silence];
    const { goOn, asked } = await leave(web, await web.issueKey(), streamed, begun, unread);
    const { cost } = await goOn();
    expect([cost, await asked.closed]).toEqual([(inputCost(streamed) + pieceCost) / 1_000_000, 'aborted']);
  });

  testRows<[string, string, Script, Script, number]>([
    ['a stream', streamed, begun, [write(dearEnd)], inputCost(streamed) + pieceCost],
    ['a plain answer', body, [], answerWith(dear), inputCost(body)],
  ])('is waited for at shutdown like any other', async (_, sent, before, after, cut) => {
    for (const engine of ['web', 'function-url'] as const) {
      await using web = await startPricedGateway({ engine });
      const { goOn } = await leave(web, await web.issue(), sent, before, after);
      const stopped = web.stop(30_000);
      void goOn();
      await stopped;
      expect([engine, linesOf(web)[0]?.cost]).toEqual([engine, dearCost / 1_000_000]);
    }
    await using hurried = await startPricedGateway({ engine: 'web' });
    await leave(hurried, await hurried.issue(), sent, before, after);
    await hurried.stop(0);
    expect(linesOf(hurried)[0]).toMatchObject({ cost: cut / 1_000_000, reason: 'stopping', refunded: false });
  });
});
