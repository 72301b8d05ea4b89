import type { Json } from '../json/scan.ts';
import { chat } from './chat/translation.ts';
import type { Dialect, DialectTranslation } from './dialect.ts';
import { messages } from './messages/translation.ts';
import type { AnswerOptions } from './model/answer/answer-writer.ts';
import type { ContextWords } from './model/answer/context-error.ts';
import type { AnswerChanges } from './model/answer-changes.ts';
import type { LeftOut } from './model/request/left-out.ts';
import type { UpstreamOptions } from './model/request/request-writer.ts';
import { createSeals, longestSeal, type Sealing } from './model/seal.ts';
import { sizeOf } from './model/tools.ts';
import { responses } from './responses/translation.ts';

/** How to translate a request. Plain data, so that it can be sent to a worker thread. */
export interface RequestTranslation {
  /** The client's dialect. */
  readonly from: Dialect['name'];
  /** The upstream's dialect. */
  readonly into: Dialect['name'];
  readonly sealing: Sealing;
  readonly upstream: UpstreamOptions;
  /** The upstream's model id. */
  readonly model: string;
  /** Whether the upstream only counts the tokens. */
  readonly isCounted: boolean;
  /** The API version that the client names, if its dialect has versions. */
  readonly version?: string | undefined;
  /** Whether to send no reasoning, because the upstream has refused the request for it. */
  readonly withoutReasoning?: boolean;
}

/** A translated request. Plain data, too. */
export interface Translation extends LeftOut {
  /** The body, in pieces. */
  readonly pieces: readonly string[];
  /** Headers that the request needs. */
  readonly headers: Readonly<Record<string, string>>;
  readonly answer: AnswerPlan;
  /** Whether it replays reasoning to the model. */
  readonly hasReasoning: boolean;
}

/** How to translate the answer back. Of the request it retains only what the answer repeats, and the names of tools. */
export interface AnswerPlan extends Pick<AnswerOptions, 'tools' | 'reasoning' | 'streamUsage' | 'echo'> {
  readonly from: Dialect['name'];
  readonly into: Dialect['name'];
  /** How much memory it retains. */
  readonly keptBytes: number;
  readonly contextWords: ContextWords;
}

/** By name. */
const dialects: Readonly<Record<string, DialectTranslation>> = { chat, responses, messages };

/** Translates a request, and plans how to translate its answer back. Throws a 400 for what can't be translated. */
export function translate(json: Json, translation: RequestTranslation): Translation {
  const { from, into, sealing, upstream, model, isCounted, version, withoutReasoning = false } = translation;
  const [client, target] = [dialects[from]?.client, dialects[into]?.upstream];
  if (!client || !target) throw new TypeError(`requests of ${from} can't be translated into ${into}`);
  const seals = createSeals(sealing.salt, sealing.caller);
  const request = { ...client.read(json, (sealed) => seals.open(from, sealed), version), isCounted, withoutReasoning };
  const { pieces, leftOutNodes, tools, ...written } = target.write(request, upstream, model);
  const { leftOut, leftOutForLog, hasReasoning } = written;
  const { reasoning, streamUsage = false } = request;
  const echo = client.echo ? client.echo(json, leftOutNodes) : [];
  const keptBytes = echo.reduce((total, { length }) => total + length, sizeOf(tools));
  const { contextWords } = client;
  const answer: AnswerPlan = { from, into, tools, reasoning, streamUsage, echo, keptBytes, contextWords };
  return { pieces, headers: target.headers, answer, leftOut, leftOutForLog, hasReasoning };
}

/** What reading and writing an answer depends on. */
interface AnswerParts extends Pick<AnswerOptions, 'live' | 'model' | 'usage' | 'now' | 'newHex'> {
  /** Records where the client sees something else than the upstream sent, if the upstream signs its reasoning over that. */
  readonly changes?: AnswerChanges | undefined;
}

/** Creates the reader and the writer that translate an answer. `stops`: the caller's stop sequences. */
export function openAnswer(
  plan: AnswerPlan,
  sealing: Sealing,
  stops: ReadonlySet<string>,
  { changes, ...parts }: AnswerParts,
) {
  const { from, into, tools, reasoning: asked, streamUsage, echo } = plan;
  const [client, target] = [dialects[from]?.client, dialects[into]?.upstream];
  if (!client || !target) throw new TypeError(`answers of ${into} can't be translated for ${from}`);
  const seals = createSeals(sealing.salt, sealing.caller);
  const seal = (reasoningBlock: string): string | undefined => {
    if (reasoningBlock.length > longestSeal) return undefined;
    const sealed = seals.seal(from, reasoningBlock);
    return sealed.length <= longestSeal ? sealed : undefined;
  };
  const { reasoning, createReader } = target.answers.open(stops, changes);
  const takeReasoning = reasoning.take;
  const writer = client.createWriter({ ...parts, tools, reasoning: asked, streamUsage, echo, seal, takeReasoning });
  return { reasoning, writer, reader: createReader(writer), joinsTexts: client.joinsTexts ?? false };
}
