import { chatAnswers } from '../../../../../lambda/dialects/chat/read-answer.ts';
import { createMessagesWriter } from '../../../../../lambda/dialects/messages/write-answer.ts';
import type { AnswerOptions, AnswerWriter } from '../../../../../lambda/dialects/model/answer/answer-writer.ts';
import type { Usage } from '../../../../../lambda/dialects/model/findings.ts';
import type { ClientTool } from '../../../../../lambda/dialects/model/tools.ts';
import { echoOf } from '../../../../../lambda/dialects/responses/echo-request.ts';
import { createResponsesWriter } from '../../../../../lambda/dialects/responses/write-answer.ts';
import { GatewayError } from '../../../../../lambda/errors.ts';
import { createTranslatingRewriter } from '../../../../../lambda/forward/rewrite-translated.ts';
import { createScanner } from '../../../../../lambda/json/scan.ts';
import { rewriteAnswer } from '../../../../../lambda/stream/rewrite-answer.ts';
import { createStreamRewriter } from '../../../../../lambda/stream/rewrite-stream.ts';
import { encodeEvent } from '../../../../../lambda/stream/sse.ts';
import { dialectNamed, formatOf, hiding } from '../../../../support/rewrite.ts';
import type { ChatCase } from './cases/case.ts';

export const clients = ['responses', 'messages'] as const;
export type Client = (typeof clients)[number];

export interface Setup {
  readonly stops?: readonly string[];
  /** By their names upstream. A function of the same name needs no entry. */
  readonly tools?: Readonly<Record<string, ClientTool>>;
  /** The client's request, which a response repeats. */
  readonly body?: object;
  readonly seal?: (reasoning: string) => string | undefined;
  readonly showsReasoning?: boolean;
  readonly wantsSeal?: boolean;
}

type How = Pick<AnswerOptions, 'live' | 'takeReasoning'>;

export function createWriter(client: Client, setup: Setup, usage: Usage, { live, takeReasoning }: How): AnswerWriter {
  let ids = 0;
  const options: AnswerOptions = {
    ...{ live, takeReasoning, usage, streamUsage: false, model: 'svc', now: () => 1_700_000_000_000 },
    tools: new Map(Object.entries(setup.tools ?? {})),
    newHex: () => String(ids++).padStart(32, '0'),
    seal: setup.seal ?? (() => undefined),
    reasoning: { shown: setup.showsReasoning ?? true, sealed: setup.wantsSeal ?? false },
    echo: echoOf(createScanner().scan(JSON.stringify(setup.body ?? {})), new Set()),
  };
  return client === 'messages' ? createMessagesWriter(options) : createResponsesWriter(options);
}

export interface Translated {
  readonly output: string;
  readonly ended: boolean;
}

/** Translates a chat stream that is split at these offsets, after names were hidden in it as in every stream. */
export function translateStream(
  client: Client,
  bytes: Uint8Array,
  setup: Setup = {},
  cuts: readonly number[] = [],
): Translated {
  const usage: Usage = {};
  const stops = new Set(setup.stops);
  const format = formatOf(dialectNamed('chat'), { stops });
  const { reasoning, createReader } = chatAnswers.open(stops);
  const writer = createWriter(client, setup, usage, { live: true, takeReasoning: reasoning.take });
  const rewriter = createTranslatingRewriter(
    (taker) => createStreamRewriter(format, { ...hiding, ...reasoning }, usage, taker),
    createReader(writer),
    writer,
  );
  const edges = [0, ...cuts, bytes.length];
  const written = edges.slice(1).map((end, at) => rewriter.push(bytes.subarray(edges[at], end)));
  const output = [...written, rewriter.finish()].flat().join('');
  if (rewriter.ended) return { output, ended: true };
  const error = new GatewayError('upstream_error', 'The stream was cut.');
  return {
    output: output + encodeEvent(dialectNamed(client).renderErrorEvent(error, rewriter.nextSequence())),
    ended: false,
  };
}

/** Translates a plain chat answer, after names were hidden in it as in every answer. */
export function translateAnswer(client: Client, answer: object, setup: Setup = {}): unknown {
  const usage: Usage = {};
  const stops = new Set(setup.stops);
  const format = formatOf(dialectNamed('chat'), { stops });
  const { reasoning, createReader } = chatAnswers.open(stops);
  const hearing = { ...hiding, ...reasoning };
  const clean = rewriteAnswer(createScanner().scan(JSON.stringify(answer)), format, hearing, usage);
  const writer = createWriter(client, setup, usage, { live: false, takeReasoning: reasoning.take });
  return JSON.parse(createReader(writer).readAnswer(createScanner().scan(clean)).join(''));
}

/** The bytes of a case's stream. */
export function bytesOf({ chunks }: Pick<ChatCase, 'chunks'>): Buffer {
  const events = chunks.map((one) => (typeof one === 'string' ? one : `data: ${JSON.stringify(one)}\n\n`));
  const isOpen = events.at(-1) === 'no [DONE]';
  return Buffer.from(isOpen ? events.slice(0, -1).join('') : `${events.join('')}data: [DONE]\n\n`);
}

/** The plain chat answer with the meaning of a case's stream; undefined if its parts come in an order that chat can't express. */
export function plainOf({ says, finish = 'done', stop, usage }: ChatCase): object | undefined {
  const kinds = ['reasoning', 'text', 'refusal', 'call'];
  const order = says.map((piece) => kinds.findIndex((kind) => kind in piece));
  const isInOrder = order.every((kind, at) => kind > (order[at - 1] ?? -1) || (kind === 3 && order[at - 1] === 3));
  if (!isInOrder) return undefined;
  const calls = says.flatMap((piece) => ('call' in piece ? [piece] : []));
  const textOf = (kind: string) => says.map((piece) => Object(piece)[kind]).find((text) => text !== undefined) ?? null;
  const reasons = { done: calls.length > 0 ? 'tool_calls' : 'stop', length: 'length', filtered: 'content_filter' };
  const message = {
    ...{
      role: 'assistant',
      content: textOf('text'),
      refusal: textOf('refusal'),
      reasoning_content: textOf('reasoning'),
    },
    tool_calls: calls.map(({ call, args, id }) => ({
      id,
      type: 'function',
      function: { name: call, arguments: args },
    })),
  };
  const [logprobs] = says.flatMap((piece) => ('logprobs' in piece ? [{ content: piece.logprobs }] : []));
  const choice = { index: 0, message, logprobs, finish_reason: reasons[finish], stop_reason: stop };
  return { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'svc', choices: [choice], usage };
}
