import type { AnswerRewriting } from '../../../lambda/forward/rewrite.ts';
import * as translating from '../../../lambda/forward/translating.ts';
import { createJobs, type DoInThread } from '../../../lambda/jobs/jobs.ts';
import { createScanner } from '../../../lambda/json/scan.ts';
import { createWork, defineJobs } from '../../../lambda/steps/body-jobs.ts';
import { raw, type Script } from '../../../local/upstream/script.ts';
import { startTestGateway } from '../../support/gateway.ts';
import { scrubber } from '../../support/rewrite.ts';
import { plainUpstream, sealing } from '../dialects/model/request/translate.ts';
import { longestTurn } from './longest-turn.ts';
import { facts } from './read-request.ts';

/** Plain answers, each of which is long in another place. */

const size = 8 * 1024 * 1024;
/** As code is spelt. */
const text = 'if (a === "b") {\n'.repeat(size / 20);
const many = <T>(count: number, one: (at: number) => T) => Array.from({ length: count }, (_, at) => one(at));
const token = (at: number) => ({
  ...{ token: `a${at}`, logprob: -0.123456, bytes: [97, 98] },
  top_logprobs: many(5, (top) => ({ token: `b${top}`, logprob: -1.23456, bytes: [98] })),
});
const call = (id: string, args: string) => ({ id, type: 'function', function: { name: 'f', arguments: args } });
const choice = (message: object, rest: object = {}) => ({
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop', ...rest }],
});
const message = (...content: object[]) => ({ type: 'message', role: 'assistant', content, stop_reason: 'end_turn' });

const answers: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  chat: {
    'a text': choice({ content: text }),
    'a thought': choice({ content: 'a', reasoning_content: text }),
    'a call': choice({ tool_calls: [call('c', JSON.stringify({ input: text.slice(0, size / 2) }))] }),
    'many calls': choice({
      tool_calls: many(9_000, (at) => call(`c${at}`, JSON.stringify({ a: text.slice(0, 700) }))),
    }),
    'token probabilities': choice({ content: 'a' }, { logprobs: { content: many(20_000, token) } }),
  },
  messages: {
    'a text': message({ type: 'text', text }),
    'a call': message({ type: 'tool_use', id: 'a', name: 'f', input: { input: text } }),
    'many texts': message(...many(40_000, (at) => ({ type: 'text', text: text.slice(0, at % 300) }))),
  },
};

/** All that is done with each of them. */
export function* longAnswers(doInThread: DoInThread) {
  const work = createWork(facts, async () => translating);
  const { rewriteWhole: rewrite } = defineJobs(work, createJobs(doInThread));
  for (const upstream of ['chat', 'messages'] as const) {
    for (const [name, answer] of Object.entries(answers[upstream] ?? {})) {
      // A text of its own, as one that was read before costs less.
      const bytes = Buffer.from(JSON.stringify(answer));
      const by: AnswerRewriting = {
        dialect: upstream,
        expected: { choices: 1, stops: new Set() },
        names: scrubber.names,
        showsGenerated: false,
        publicModel: 'svc',
        concealed: [],
        countsText: true,
      };
      const signing = upstream === 'messages' ? sealing : undefined;
      yield {
        name: `${upstream}: ${name}, passed on`,
        work: () => rewrite(String(bytes), { ...by, signing }, sealing),
      };
      for (const client of ['chat', 'responses', 'messages'] as const) {
        if (client === upstream) continue;
        const planned = createScanner().scan(JSON.stringify(requests[client]));
        const asked = { from: client, into: upstream, sealing, upstream: plainUpstream, model: 'm', isCounted: false };
        const { answer: plan } = translating.translate(planned, asked);
        const translation = { answer: plan, sealing, signsThinking: true, now: 0 };
        yield {
          name: `${upstream}: ${name}, for ${client}`,
          work: () => rewrite(String(bytes), { ...by, translation }, sealing),
        };
      }
    }
  }
}

/** With a custom tool, whose input is read of the arguments. */
const requests = {
  chat: { model: 'svc', messages: [{ role: 'user', content: 'a' }], max_tokens: 9 },
  responses: { model: 'svc', input: 'a', tools: [{ type: 'custom', name: 'f' }] },
  messages: { model: 'svc', max_tokens: 9, messages: [{ role: 'user', content: 'a' }] },
};

const vectors = {
  'a long vector': `{"data":[{"index":0,"embedding":[${'0.12345,'.repeat(25_000)}1]}]}`,
  'many vectors': `{"data":[${'{"index":0,"embedding":[]},'.repeat(8_000)}{}]}`,
  'much around the vectors': `{"object":"${'x'.repeat(60_000)}","data":[{"index":0,"embedding":[1]}]}`,
};

/** Answers of vectors whose upstream sends them byte by byte, through both engines. */
export async function vectorsInBytes() {
  const ticks: { readonly name: string; readonly ms: number }[] = [];
  const UPSTREAM_EMBEDDINGS_MODEL = 'acmecorp/thunder-embed';
  const environment = { UPSTREAM_EMBEDDINGS_MODEL, MEMBER_LIMIT: '1000', BURST_LIMIT: '1000' };
  for (const engine of ['function-url', 'web'] as const) {
    await using gateway = await startTestGateway({ engine, environment });
    const key = await gateway.issueKey();
    for (const [name, text] of Object.entries(vectors)) {
      const chunks = text.replace(/./g, (byte) => `1\r\n${byte}\r\n`);
      const answer = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';
      const script: Script = [raw(`${answer}${chunks}0\r\n\r\n`)];
      let ms = Number.POSITIVE_INFINITY;
      for (let time = 0; time < 5; time += 1) {
        gateway.upstream.answer(script);
        const ask = async () => {
          const asked = { model: 'svc-embedding', input: 'hi' };
          const got = await gateway.post('/v1/embeddings', asked, { 'x-api-key': key });
          if ((await got.text()).length !== text.length) throw new Error(`${name} did not come`);
        };
        ms = Math.min(ms, await longestTurn(ask));
      }
      ticks.push({ name: `${engine}: ${name}, byte by byte`, ms });
    }
  }
  return ticks;
}
