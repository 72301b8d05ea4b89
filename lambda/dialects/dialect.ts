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
import type { Address } from './names.ts';

/** One public path of a dialect. Upstreams have the same, after a version of their own. */
export interface Endpoint {
  readonly path: string;
  /**
   * Whether it only counts tokens: not charged, under a burst limit of its own, and never streamed. An upstream may lack it; the
   * client then gets a 404, as for an unknown path.
   */
  readonly countsTokens?: boolean;
  /** Whether it answers with vectors, which the embedding model alone makes. Never streamed as events. */
  readonly embeddings?: boolean;
  /** Whether it shortens a conversation, which only an upstream of the same dialect can, and which that may lack. Never streamed. */
  readonly compacts?: boolean;
  /** What the answer of an endpoint that counts tokens calls itself, where it does. */
  readonly countObject?: string;
  /** Clients try a WebSocket here, under a beta of this name, and fall back to POST when it is refused. */
  readonly webSocketBeta?: RegExp;
}

/** The changes that a dialect makes to a body. */
export interface Normalization {
  /** Top-level members to set, as JSON text. */
  readonly set?: Readonly<Record<string, string>>;
  /** Top-level members to leave out, which the client is told. */
  readonly leaveOut?: readonly string[];
  /** Changes inside other objects. */
  readonly edits?: readonly Edit[];
}

/** An event as it goes out to the client. */
export interface OutgoingEvent {
  readonly type?: string | undefined;
  readonly data: string;
}

/** Everything that differs between dialects. Pure: data in, data out. */
export interface Dialect extends SizeRules {
  /** Also that of the upstreams' address for it. */
  readonly name: Address;
  /** Whether its thoughts have signatures that clients send back. */
  readonly hasSignatures?: boolean;
  /** By what in an upstream's 400 can be told that thoughts are what it refuses: words of vendors. */
  readonly refusedReasoning?: RegExp;
  readonly endpoints: readonly Endpoint[];
  /** The headers that carry the upstream key. */
  authorize(key: string): Record<string, string>;

  /** Top-level members that the gateway reads. If one is repeated, only the last is kept. */
  readonly controlMembers: ReadonlySet<string>;
  /** Throws `invalid_request` for a body that makes no sense in this dialect. */
  checkBody(body: Json): void;
  /** Walks the content of the body, and returns the path of the image or video that it stopped at. */
  searchContent(body: Json, search: ContentSearch): string | undefined;
  /** Whether the body refers to items that the upstream may have stored: then the upstream's 404 is the caller's mistake. */
  hasReferences?(body: Json): boolean;
  /** The texts that all turns of a conversation share: the instructions and the first user message. */
  findConversationStart(body: Json): readonly Node[];
  /** Whether the body contains what only the account that made it can read: encrypted reasoning, signed thinking. */
  isAccountBound(body: Json): boolean;
  readExpectedAnswer(body: Json, needsUsage?: boolean): ExpectedAnswer;
  /** The changes to make before forwarding. `needsUsage`: the gateway has to learn what the answer uses. */
  normalize(body: Json, needsUsage?: boolean): Normalization;

  /** Reads a whole answer, which may also report the upstream's failure. */
  readAnswer(answer: Json, found: Findings, expected: ExpectedAnswer): void;
  /** A fresh reader for one stream. */
  openStream(expected: ExpectedAnswer): StreamDialect;

  renderError(error: GatewayError): string;
  /** The headers in which this dialect's clients look for a rate limit. */
  renderRateLimit(limit: RateLimit, now: number): Record<string, string>;
  /** The event that ends a broken stream; `sequence` is the number after the last event's. */
  renderErrorEvent(error: GatewayError, sequence: number): OutgoingEvent;
  /** A keep-alive for the client while the upstream is silent, in wire form. */
  readonly keepAlive: string;
}

/** Everything about a request that the reading of its answer depends on. */
export interface AnswerFormat {
  readonly dialect: Dialect;
  readonly expected: ExpectedAnswer;
}

/** A dialect's reader of one stream. */
export interface StreamDialect {
  /**
   * Not called for an event that differs from the one before it only in its text, its number and padding. Called for a generated
   * event too.
   */
  readEvent(event: Json, type: string | undefined, found: Findings): void;
  /** Called for a `[DONE]`, which ends the stream of a dialect that has this. Throws if there was no answer before it. */
  readDone?(): void;
  /** Makes events with more text for channels that the `last` event had text for. Each costs no more than what it carries. */
  deltasLike(last: OutgoingEvent): MakeDelta;
}

/** How a dialect takes part in translation: what its clients send and read, and what an upstream that speaks it does. */
export interface DialectTranslation {
  readonly client: TranslatedClient;
  /** Present if requests are translated into it. */
  readonly upstream?: TranslationTarget;
}

/** Requests of a client of the dialect are read, and answers to it written. */
interface TranslatedClient {
  /** `open` opens what the gateway has sealed; `version` is that of the dialect, where it has versions. Throws a 400. */
  read(json: Json, open: (sealed: string) => string | undefined, version?: string): ModelRequest;
  createWriter(options: AnswerOptions): AnswerWriter;
  /** Whether its clients read the texts around thoughts as one. */
  readonly joinsTexts?: true;
  /** What of a request its answer repeats, if it does. */
  echo?(json: Json, leftOut: ReadonlySet<Node>): readonly Uint8Array[];
  /** By what its clients see that a request is too long. */
  readonly contextWords: ContextWords;
}

/** Requests to an upstream that speaks the dialect are written, and its answers read. */
interface TranslationTarget {
  write(request: ModelRequest, upstream: UpstreamOptions, model: string): WrittenRequest;
  readonly answers: AnswerDialect;
  readonly headers: Readonly<Record<string, string>>;
}

/** Makes an event that carries only `text`. */
export type MakeDelta = (channel: string, text: string, sequence: number) => OutgoingEvent;

/** How many requests a caller may still send. */
export interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  /** Until the count restarts; absent if it never does. */
  readonly resetSeconds?: number;
}
