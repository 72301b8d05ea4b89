import { request as httpRequest } from 'node:http';
import { describe, expect } from '@jest/globals';
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

  const lineOf = ({ log }: Pick<TestGateway, 'log'>) => log.find(({ end }) => end === 'client_gone');

  /** Sends a request, and disconnects once the upstream has it or the answer has started; `goOn` sends the rest. */
  async function leave(
    web: Awaited<ReturnType<typeof startPricedGateway>>,
    key: string,
    sent: string,
    begun: Script,
    rest: Script,
    at = path,
  ) {
    const left = Promise.withResolvers<void>();
    web.upstream.answer([...begun, until(left.promise), ...rest]);
    const gone = Promise.withResolvers<void>();
    const outgoing = httpRequest(web.url + at, { method: 'POST', agent: false, headers: { 'x-api-key': key } });
    outgoing.on('error', () => {}).on('response', (answered) => answered.once('data', gone.resolve));
    outgoing.end(sent);
    const asked = await web.upstream.arrival(web.upstream.requests.length);
    if (begun.length > 0) await gone.promise;
    outgoing.destroy();
    // The gateway gets this after it has noticed that the client disconnected.
    await web.usageOf(key);
    const goOn = async () => {
      left.resolve();
      return waitUntil(() => lineOf(web), 'the line of the request');
    };
    return { asked, goOn };
  }

  const begun = [eventHead, write(eventText(piece))];
  const parts = 'the larger of what was counted and estimated';
  testRows<[string, string, Script, Script, number]>([
    ['a stream pays its usage', streamed, begun, [write(dearEnd)], dearCost],
    ['before a stream pays its usage', streamed, [], [...begun, write(dearEnd)], dearCost],
    ['before a plain answer pays its usage', body, [], answerWith(dear), dearCost],
    [`a stream that breaks pays ${parts}`, streamed, begun, [hangUp], inputCost(streamed) + pieceCost],
    ['what is refused pays nothing', body, [], json(400, { error: {} }), 0],
    ['a stream that is refused pays nothing', streamed, [], json(400, { error: {} }), 0],
    ['what fails pays its prompt', body, [], json(500, { error: {} }), inputCost(body)],
  ])('with a budget, on either engine', async (_, sent, before, after, micros) => {
    for (const engine of ['web', 'function-url'] as const) {
      await using web = await startPricedGateway({ engine });
      const key = await web.issue();
      const { goOn } = await leave(web, key, sent, before, after);
      const line = await goOn();
      expect([engine, await chargesIn(web), await web.usageOf(key)]).toMatchObject([engine, 1, settled(micros)]);
      expect([line.cost ?? 0, line.refunded, web.faults]).toEqual([micros / 1_000_000, false, []]);
    }
  });

  testRows(['/v1/messages', '/v1/responses'])('with a budget, where the answer is translated', async (at) => {
    await using web = await startPricedGateway({ engine: 'web', environment: { UPSTREAM_DIALECTS: 'chat' } });
    const key = await web.issue();
    const sent = JSON.stringify({ model: 'svc', stream: true, max_tokens: 9, messages: [], input: 'x' });
    const { goOn } = await leave(web, key, sent, begun, [write(dearEnd)], at);
    await goOn();
    expect(await web.usageOf(key)).toMatchObject(settled(dearCost));
  });

  const complete = [eventHead, write(eventText(piece) + eventText(last))];
  const unread = [write(eventText(piece)), silence];
  testRows<[string, Script, Script, number, string]>([
    ['pays parts, and the answer is cut', begun, unread, inputCost(streamed) + pieceCost, 'aborted'],
    ['pays its usage where only that is missing', complete, [write(dearEnd)], dearCost, 'answered'],
  ])('without a budget', async (_, before, after, micros, how) => {
    await using web = await startPricedGateway({ engine: 'web' });
    const { goOn, asked } = await leave(web, await web.issueKey(), streamed, before, after);
    expect([(await goOn()).cost, await asked.closed]).toEqual([micros / 1_000_000, how]);
  });

  testRows<[string, string, Script, Script, number]>([
    ['a stream', streamed, begun, [write(dearEnd)], inputCost(streamed) + pieceCost],
    ['a stream that has not begun', streamed, [], [...begun, write(dearEnd)], inputCost(streamed)],
    ['a plain answer', body, [], answerWith(dear), inputCost(body)],
  ])('is waited for at shutdown like any other', async (_, sent, before, after, cut) => {
    for (const engine of ['web', 'function-url'] as const) {
      await using web = await startPricedGateway({ engine });
      const { goOn } = await leave(web, await web.issue(), sent, before, after);
      const stopped = web.stop(30_000);
      void goOn();
      await stopped;
      expect([engine, lineOf(web)?.cost]).toEqual([engine, dearCost / 1_000_000]);
    }
    await using hurried = await startPricedGateway({ engine: 'web' });
    await leave(hurried, await hurried.issue(), sent, before, after);
    await hurried.stop(0);
    expect(lineOf(hurried)).toMatchObject({ cost: cut / 1_000_000, reason: 'stopping', refunded: false });
  });
});
