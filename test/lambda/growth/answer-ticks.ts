import type { Cooperative } from '../../../lambda/json/cooperative.ts';
import { createScanner } from '../../../lambda/json/scan.ts';
import { type Hiding, rewriteAnswer } from '../../../lambda/stream/hide.ts';
import type { AnswerOptions } from '../../../lambda/translate/answer/answer-writer.ts';
import { chatAnswers } from '../../../lambda/translate/chat/read-answer.ts';
import { createChatWriter } from '../../../lambda/translate/chat/write-answer.ts';
import { messagesAnswers } from '../../../lambda/translate/messages/read-answer.ts';
import { createMessagesWriter } from '../../../lambda/translate/messages/write-answer.ts';
import { createResponsesWriter } from '../../../lambda/translate/responses/write-answer.ts';
import { raw, type Script } from '../../../local/upstream/script.ts';
import { startTestGateway } from '../../support/gateway.ts';
import { dialectNamed, formatOf, hiding } from '../../support/rewrite.ts';
import { watchTurns } from './engine-ticks.ts';

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

const reads = { chat: chatAnswers, messages: messagesAnswers };
const writers = { chat: createChatWriter, responses: createResponsesWriter, messages: createMessagesWriter };

function* passOn(upstream: string, answer: string, hears: Partial<Hiding> = {}): Cooperative<string> {
  return yield* rewriteAnswer(answer, formatOf(dialectNamed(upstream)), { ...hiding, ...hears }, createScanner(), {});
}

function* translate(
  upstream: keyof typeof reads,
  client: keyof typeof writers,
  kind: 'function' | 'custom',
  answer: string,
): Cooperative<unknown> {
  const { thoughts, createReader } = reads[upstream].open(new Set());
  const options: AnswerOptions = {
    ...{ live: false, model: 'svc', usage: {}, streamUsage: false, echo: [], now: () => 0, newHex: () => 'a' },
    ...{ takeThought: thoughts.take, thoughts: { shown: true, sealed: true }, seal: () => undefined },
    tools: new Map([['f', { kind, name: 'f' }]]),
  };
  const clean = yield* passOn(upstream, answer, thoughts);
  const written = yield* createReader(writers[client](options)).readAnswer(yield* createScanner().scanInParts(clean));
  return written.join('');
}

/** All that is done with each of them. Each work pauses wherever others get their turn. */
export function* longAnswers() {
  for (const upstream of ['chat', 'messages'] as const) {
    for (const [name, answer] of Object.entries(answers[upstream] ?? {})) {
      // A text of its own, as one that was read before costs less.
      const bytes = Buffer.from(JSON.stringify(answer));
      yield { name: `${upstream}: ${name}, passed on`, work: () => passOn(upstream, String(bytes)) };
      for (const client of ['chat', 'responses', 'messages'] as const) {
        if (client === upstream) continue;
        const work = (kind: 'function' | 'custom') => () => translate(upstream, client, kind, String(bytes));
        yield { name: `${upstream}: ${name}, for ${client}`, work: work('function') };
        if (client !== 'responses' || name !== 'a call') continue;
        yield { name: `${upstream}: ${name} of a custom tool, for ${client}`, work: work('custom') };
      }
    }
  }
}

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
        const stop = watchTurns();
        const got = await gateway.post('/v1/embeddings', { model: 'svc-embedding', input: 'hi' }, { 'x-api-key': key });
        if ((await got.text()).length !== text.length) throw new Error(`${name} did not come`);
        ms = Math.min(ms, stop());
      }
      ticks.push({ name: `${engine}: ${name}, byte by byte`, ms });
    }
  }
  return ticks;
}
