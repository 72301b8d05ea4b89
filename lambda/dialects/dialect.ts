/*
 * A dialect is an API that clients and upstreams speak, such as Anthropic's messages. Each has a folder beside this file, with
 * everything that only this dialect does:
 *
 * - `NAME.ts` exports its `Dialect`: endpoints, which request bodies are valid, where an answer holds its texts, ids and usage, and what
 *   errors look like. `texts.ts` finds the texts.
 * - `translation.ts` exports its `DialectTranslation`, if it is translated from or into others. `read-request.ts` and `write-answer.ts`
 *   serve its clients; `write-request.ts` and `read-answer.ts` talk to upstreams that speak it. `request-fields.ts` lists every field of
 *   a request, and what becomes of it.
 *
 * Dialects never import each other. What they share is in `model/`: `request-body.ts` there already implements the methods that read
 * bodies in the same way for all dialects.
 *
 * To add one, create the folder, and add the dialect to `names.ts`, `index.ts` and, if it is translated, `translation.ts`. The tests of
 * all dialects run on recorded requests and answers, in `test/fixtures/NAME/`. docs/CONTRIBUTING.md lists what else changes. Some places
 * know the words of all dialects: `model/check-body.ts` the members that decide what a request is, `hiding/hidden-names.ts` the words
 * that are never hidden, `upstream/upstream-request.ts` the headers that pass through.
 */

import type { SizeRules } from '../budget/estimate.ts';
import type { GatewayError } from '../errors.ts';
import type { Edit } from '../json/edit.ts';
import type { Json, Node } from '../json/scan.ts';
import type { AnswerDialect } from './model/answer/answer-reader.ts';
import type { AnswerOptions, AnswerWriter } from './model/answer/answer-writer.ts';
import type { ContextWords } from './model/answer/context-error.ts';
import type { ContentSearch } from './model/content.ts';
import type { ExpectedAnswer } from './model/expected-answer.ts';
import type { Findings } from './model/findings.ts';
import type { ModelRequest } from './model/request/model-request.ts';
import type { UpstreamOptions, WrittenRequest } from './model/request/request-writer.ts';
import type { DialectName } from './names.ts';

/** Everything that differs between dialects. Pure: data in, data out. */
export interface Dialect extends SizeRules {
  /** Also names the upstream's base URL for this dialect. */
  readonly name: DialectName;
  readonly endpoints: readonly Endpoint[];
  /** The headers that carry the upstream key. */
  authorize(key: string): Record<string, string>;
  /** Required headers, for clients that don't send them. */
  readonly headers?: Readonly<Record<string, string>>;

  // The request

  /** Top-level members that the gateway reads. If one is repeated, only the last is kept. */
  readonly controlMembers: ReadonlySet<string>;
  /** Throws `invalid_request` for a body that is not valid in this dialect. */
  checkBody(body: Json): void;
  /** The changes to make before forwarding. */
  normalize(body: Json): Normalization;
  /** The changes that ask a stream for its usage, if the client does not. Some upstreams refuse the option. */
  requestUsage?(body: Json): readonly Edit[];
  /** Walks the content of the body. Returns the path of the image or video that it stopped at. */
  searchContent(body: Json, search: ContentSearch): string | undefined;
  /** Whether the body refers to items that the upstream may have stored. If so, a 404 of the upstream is the caller's mistake. */
  hasReferences?(body: Json): boolean;
  /** The texts that all turns of a conversation share: the instructions and the first user message. */
  findConversationStart(body: Json): readonly Node[];
  /** Whether the body holds encrypted reasoning or signed thinking, which only the upstream account that produced it can read. */
  isAccountBound(body: Json): boolean;

  // The answer

  readExpectedAnswer(body: Json, needsUsage?: boolean): ExpectedAnswer;
  /** Reads a plain answer, which may also report the upstream's failure. */
  readAnswer(answer: Json, found: Findings, expected: ExpectedAnswer): void;
  /** Creates a reader for one stream. */
  openStream(expected: ExpectedAnswer): StreamDialect;
  /** A keep-alive for the client while the upstream is silent, in wire form. */
  readonly keepAlive: string;
  /** Whether clients send reasoning back with the provider's signature. */
  readonly hasSignatures?: boolean;

  // Errors and limits

  renderError(error: GatewayError): string;
  /** The event that ends a broken stream. `sequence` is the number after the last event's. */
  renderErrorEvent(error: GatewayError, sequence: number): OutgoingEvent;
  /** The headers in which this dialect's clients look for a rate limit. */
  renderRateLimit(limit: RateLimit, now: number): Record<string, string>;
  /** Matches an upstream's 400 that rejects the request because of the reasoning in it. */
  readonly refusedReasoning?: RegExp;
}

/** A public path of a dialect. Upstreams have the same one, after a version of their own. */
export interface Endpoint {
  readonly path: string;
  /**
   * Whether it only counts tokens: not charged, under a burst limit of its own, and never streamed. If the upstream doesn't have it, the
   * client gets a 404, as for an unknown path.
   */
  readonly countsTokens?: boolean;
  /** The `object` of an answer that counts tokens, if the dialect has one. */
  readonly countObject?: string;
  /** Whether it answers with vectors, which only the embedding model makes. Never streamed as events. */
  readonly embeddings?: boolean;
  /** Whether it compacts a conversation. Only an upstream of the same dialect can, and it may not. Never streamed. */
  readonly compacts?: boolean;
  /** Clients first try a WebSocket here, under a beta of this name, and fall back to POST when it is refused. */
  readonly webSocketBeta?: RegExp;
}

/** The changes that a dialect makes to a body. */
export interface Normalization {
  /** Top-level members to set, as JSON text. */
  readonly set?: Readonly<Record<string, string>>;
  /** Top-level members to leave out. The client is told. */
  readonly leaveOut?: readonly string[];
  /** Changes to nested objects. */
  readonly edits?: readonly Edit[];
}

/** A dialect's reader of one stream. */
export interface StreamDialect {
  /**
   * Not called for an event that differs from the previous one only in its text, number and padding. Also called for events that the
   * gateway generates.
   */
  readEvent(event: Json, type: string | undefined, found: Findings): void;
  /** Called for `[DONE]`, in a dialect whose streams end with it. Throws if no answer came before it. */
  readDone?(): void;
  /** Makes further events for the channels that had text in the `last` event. Each costs no more than its text. */
  deltasLike(last: OutgoingEvent): MakeDelta;
}

/** Makes an event that carries only `text`. */
export type MakeDelta = (channel: string, text: string, sequence: number) => OutgoingEvent;

/** An event that is sent to the client. */
export interface OutgoingEvent {
  readonly type?: string | undefined;
  readonly data: string;
}

/** What is known of an answer before it is read. */
export interface AnswerFormat {
  readonly dialect: Dialect;
  readonly expected: ExpectedAnswer;
}

/** How many requests a caller may still send. */
export interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  /** Until the count restarts; absent if it never does. */
  readonly resetSeconds?: number;
}

/** How a dialect is translated, by way of the `ModelRequest` and the `AnswerSink` in `model/`. */
export interface DialectTranslation {
  readonly client: TranslatedClient;
  /** Present if requests can be translated into this dialect. */
  readonly upstream?: TranslatedUpstream;
}

/** The client's side: reads requests in this dialect, and writes answers in it. */
interface TranslatedClient {
  /** `open` opens this gateway's seals. `version` is the API version that the client names, if the dialect has versions. Throws a 400. */
  read(json: Json, open: (sealed: string) => string | undefined, version?: string): ModelRequest;
  createWriter(options: AnswerOptions): AnswerWriter;
  /** Whether clients join the texts before and after reasoning into one. */
  readonly joinsTexts?: true;
  /** The part of a request that its answer repeats, if any. */
  echo?(json: Json, leftOut: ReadonlySet<Node>): readonly Uint8Array[];
  /** How clients recognize that a request exceeds the model's context. */
  readonly contextWords: ContextWords;
}

/** The upstream's side: writes requests in this dialect, and reads answers in it. */
interface TranslatedUpstream {
  write(request: ModelRequest, upstream: UpstreamOptions, model: string): WrittenRequest;
  readonly answers: AnswerDialect;
  readonly headers: Readonly<Record<string, string>>;
}
