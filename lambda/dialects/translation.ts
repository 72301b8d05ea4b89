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

/** A request to translate, and for whom: plain data, which a thread can be sent. */
export interface RequestTranslation {
  /** The client's dialect, and the one that the upstream speaks. */
  readonly from: Dialect['name'];
  readonly into: Dialect['name'];
  readonly sealing: Sealing;
  readonly upstream: UpstreamOptions;
  /** What the upstream calls the model. */
  readonly model: string;
  /** Whether the upstream is only to count the tokens. */
  readonly isCounted: boolean;
  /** The version of the client's dialect that the client names, where it has versions. */
  readonly version?: string | undefined;
  /** Whether it refused the request for the model's thoughts in it, and so gets none. */
  readonly withoutReasoning?: boolean;
}

/** A request in the words of an upstream that does not speak the client's dialect: plain data too. */
export interface Translation extends LeftOut {
  /** The body's text. */
  readonly pieces: readonly string[];
  /** What the request must say besides. */
  readonly headers: Readonly<Record<string, string>>;
  readonly answer: AnswerPlan;
  /** Whether it shows the model thoughts of its own again. */
  readonly hasReasoning: boolean;
}

/** How the answer becomes one for the client. It keeps nothing of the request but what the answer repeats, and names of tools. */
export interface AnswerPlan extends Pick<AnswerOptions, 'tools' | 'reasoning' | 'streamUsage' | 'echo'> {
  readonly from: Dialect['name'];
  readonly into: Dialect['name'];
  /** The bytes that it keeps. */
  readonly keptBytes: number;
  readonly contextWords: ContextWords;
}

/** The dialects that can be translated, by name. */
const dialects: Readonly<Record<string, DialectTranslation>> = { chat, responses, messages };

/** Translates a request for an upstream, and plans how its answer is translated back. Throws a 400 for what can't be carried over. */
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

/** What an answer is read and written with. */
interface AnswerParts extends Pick<AnswerOptions, 'live' | 'model' | 'usage' | 'now' | 'newHex'> {
  /** What of it the client sees otherwise, where the upstream signs its thoughts over that. */
  readonly changes?: AnswerChanges | undefined;
}

/** Opens what translates an answer. `stops`: the texts at which the caller wants the model to stop. */
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
