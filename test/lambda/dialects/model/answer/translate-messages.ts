import { createChatWriter } from '../../../../../lambda/dialects/chat/write-answer.ts';
import { messagesAnswers } from '../../../../../lambda/dialects/messages/read-answer.ts';
import type { Usage } from '../../../../../lambda/dialects/model/findings.ts';
import { echoOf } from '../../../../../lambda/dialects/responses/echo-request.ts';
import { createResponsesWriter } from '../../../../../lambda/dialects/responses/write-answer.ts';
import { createTranslatingRewriter } from '../../../../../lambda/forward/rewrite-translated.ts';
import { createScanner } from '../../../../../lambda/json/scan.ts';
import { rewriteAnswer } from '../../../../../lambda/stream/rewrite-answer.ts';
import { createStreamRewriter } from '../../../../../lambda/stream/rewrite-stream.ts';
import { dialectNamed, formatOf, hiding } from '../../../../support/rewrite.ts';

const writers = { chat: createChatWriter, responses: createResponsesWriter };
export type Client = keyof typeof writers;

/** Creates the reader and the writer that translate messages for a client. */
export function open(client: Client, live: boolean) {
  const usage: Usage = {};
  const { reasoning, createReader } = messagesAnswers.open(new Set());
  let ids = 0;
  const writer = writers[client]({
    ...{ live, usage, model: 'svc', streamUsage: true, takeReasoning: reasoning.take },
    echo: echoOf(createScanner().scan('{"user":"u"}'), new Set()),
    ...{ now: () => 1_700_000_000_000, newHex: () => String(ids++).padStart(32, '0') },
    tools: new Map(),
    reasoning: { shown: true, sealed: true },
    seal: (reasoning) => `sealed ${reasoning}`,
  });
  return { usage, writer, reader: createReader(writer), hears: { ...hiding, ...reasoning } };
}

export const formatFor = (client: Client) => formatOf(dialectNamed('messages'), { joinsTexts: client === 'chat' });

/** Opens a stream of messages that is translated for a client. */
export function openStream(client: Client) {
  const { usage, writer, reader, hears } = open(client, true);
  return createTranslatingRewriter(
    (taker) => createStreamRewriter(formatFor(client), hears, usage, taker),
    reader,
    writer,
  );
}

/** Translates a plain message, after names were hidden in it as in every answer. */
export function translateMessageAnswer(client: Client, message: object): unknown {
  const { usage, reader, hears } = open(client, false);
  const clean = rewriteAnswer(createScanner().scan(JSON.stringify(message)), formatFor(client), hears, usage);
  return JSON.parse(reader.readAnswer(createScanner().scan(clean)).join(''));
}

/** What a client reads of a stream that is split at these offsets. */
export function translateMessages(client: Client, wire: Buffer, cuts: readonly number[]) {
  const rewriter = openStream(client);
  const edges = [0, ...cuts, wire.length];
  const written = edges.slice(1).map((end, at) => rewriter.push(wire.subarray(edges[at], end)));
  return { output: [...written, rewriter.finish()].flat().join(''), ended: rewriter.ended };
}
