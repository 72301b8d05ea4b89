import { expect } from '@jest/globals';
import { head, json } from '../../local/upstream/script.ts';
import { startTestGateway } from './gateway.ts';
import { PRICES } from './prices.ts';
import { waitUntil } from './wait-until.ts';

/* In millionths, a token of svc costs 3 in, 3.75 written to the cache (the dearest input, which is reserved), and 15 out. */
const environment = { PRICES, MEMBER_LIMIT: '1000', BURST_LIMIT: '600' };
export const path = '/v1/chat/completions';
export const body = '{"model":"svc","max_tokens":100,"messages":[]}';
export const streamed = body.replace('}', ',"stream":true}');
export const inputCost = (sent: string) => Math.ceil(sent.length / 3) * 3;
export const choice = { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' };
export const answerWith = (usage?: object) =>
  json(200, { id: 'c', object: 'chat.completion', choices: [choice], usage });
export const usage = { prompt_tokens: 5, completion_tokens: 1 };
export const answer = answerWith(usage);
/** 5 × 3 + 1 × 15. */
export const cost = 30;
export const eventHead = head(200, { 'content-type': 'text/event-stream' });
export const chunk = (more: object) => ({ data: { id: 'c', object: 'chat.completion.chunk', ...more } });
export const piece = chunk({ choices: [{ index: 0, delta: { content: 'x'.repeat(30) }, finish_reason: null }] });
/** 30 bytes of text are estimated as 10 tokens. */
export const pieceCost = 10 * 15;
export const last = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
export const end = [last, chunk({ choices: [], usage }), { data: '[DONE]' }];

type Options = NonNullable<Parameters<typeof startTestGateway>[0]>;

/** A gateway with prices, and helpers for its callers with budgets. */
export async function startPricedGateway({ environment: more, ...options }: Options = {}) {
  const gateway = await startTestGateway({ environment: { ...environment, ...more }, ...options });
  return Object.assign(gateway, {
    issue: (budget = 1_000_000, own: object = {}) => gateway.issueKey({ budget, budgetWindow: 'month', ...own }),
    ask: (key: string, sent: string | object = body, at = path) => gateway.post(at, sent, { 'x-api-key': key }),
    async usageOf(key: string) {
      const read = await fetch(`${gateway.url}/v1/usage`, { headers: { 'x-api-key': key } });
      expect(read.status).toBe(200);
      return (await read.json()) as { readonly budget: Readonly<Record<string, string>> };
    },
    ended: () => waitUntil(() => gateway.log.some(({ tries }) => tries !== undefined), 'the line of the request'),
  });
}

/** What `GET /v1/usage` returns once this much is spent and nothing is running. */
export const settled = (micros: number) => {
  const spent = (micros / 1_000_000).toFixed(6).replace(/0{1,4}$/, '');
  return { budget: { spent, reserved: '0.00', unsettled: '0.00' } };
};
