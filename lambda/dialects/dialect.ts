import type { SizeRules } from '../budget/estimate.ts';
import type { GatewayError } from '../errors.ts';
import type { Cooperative } from '../json/cooperative.ts';
import type { Edit } from '../json/edit.ts';
import type { Json, Node } from '../json/scan.ts';
import type { Address } from '../settings/table.ts';

/** One public path of a dialect. Upstreams have the same, after a version of their own. */
export interface Endpoint {
  readonly path: string;
  /**
   * Whether it only counts tokens: not charged, under a burst limit of its own, and never streamed. An upstream may lack it; the
   * client then gets a 404, as for an unknown path.
   */
  readonly countsTokens?: boolean;
  /** Clients try a WebSocket here, under a beta of this name, and fall back to POST when it is refused. */
  readonly webSocketBeta?: RegExp;
}

/** The changes that a dialect makes to a body. */
export interface Normalization {
  /** Top-level members to set, as JSON text. */
  readonly set?: Readonly<Record<string, string>>;
  /** Changes inside other objects. */
  readonly edits?: readonly Edit[];
}

/** An event as it goes out to the client. */
export interface OutgoingEvent {
  readonly type?: string | undefined;
  readonly data: string;
}

/**
 * A dialect records here what it finds in one answer or event. It knows the structure; replacing, holding back and dropping work
 * alike for all dialects, in stream/hide.ts, text-channels.ts and rewrite-event.ts.
 */
export interface Recorder {
  /** The value that names the model. */
  model(value: Node): void;
  /** The upstream's error message, in an event that is forwarded. */
  errorMessage(value: Node): void;
  /** A member that would reveal who answered. */
  drop(object: Node, key: Node): void;
  /** A value that a program reads back: it stays unchanged, with everything inside it. */
  keep(value: Node): void;
  /**
   * A piece of generated text. Pieces of one `channel` follow one another; `family` names the channels whose texts a client may
   * join. The value at `logprobs`, if any, becomes null if the text is changed.
   */
  textDelta(channel: string, family: string, value: Node, logprobs?: Node): void;
  /** All the text of a channel, whether or not its pieces came before. */
  wholeText(channel: string, family: string, value: Node, logprobs?: Node): void;
  /** Token probabilities, which spell a text of their own: they become null if that contains a name. */
  logprobs(channel: string, value: Node, isWhole: boolean): void;
  /**
   * The channels with this prefix end with this event: what they hold back leaves before it or in it. A prefix is empty, one to
   * four steps with their slashes (`0/`), or a whole channel.
   */
  endTexts(prefix: string): void;
  /** One channel with this prefix adds text now: what the others hold back leaves before this event. */
  flushOthers(prefix: string): void;
  /** The number that counts the events of the stream. */
  sequence(value: Node): void;
  /** Tokens as the upstream counts them up to now, and the numbers that say so, as far as each kind is one number. */
  usage(counts: TokenCounts, places?: { readonly [Kind in keyof TokenCounts]?: Node | undefined }): void;
  /** An event that the client did not ask for: it is read, but not sent. */
  withhold(): void;
  /** An event that only shows that the upstream is alive. It does not count as a first event. */
  alive(): void;
  /** The stream ends with this event. */
  end(): void;
  /** The answer is complete: if the upstream stops after this, that is not a break. */
  mayEnd(): void;
  /** The upstream reports that it failed; `forward` if this event is the dialect's own way to say so. */
  fail(message: string, forward?: boolean): void;
}

/** Everything that differs between dialects. Pure: data in, data out. */
export interface Dialect extends SizeRules {
  /** Also that of the upstreams' address for it. */
  readonly name: Address;
  readonly endpoints: readonly Endpoint[];
  /** The headers that carry the upstream key. */
  authorize(key: string): Record<string, string>;

  /** Top-level members that the gateway reads. If one is repeated, only the last is kept. */
  readonly controlMembers: ReadonlySet<string>;
  /** Throws `invalid_request` for a body that makes no sense in this dialect. */
  checkBody(body: Json): void;
  /** Where the body holds image or video content, as a path for the error message. */
  findVision(body: Json): Cooperative<string | undefined>;
  /** Whether the body refers to items that the upstream may have stored: then the upstream's 404 is the caller's mistake. */
  hasReferences?(body: Json): Cooperative<boolean>;
  /** The texts that all turns of a conversation share: the instructions and the first user message. */
  findConversationStart(body: Json): readonly Node[];
  /** Whether the body contains what only the account that made it can read: encrypted reasoning, signed thinking. */
  isAccountBound(body: Json): boolean;
  readExpectedAnswer(body: Json, needsUsage?: boolean): ExpectedAnswer;
  /** The changes to make before forwarding. `needsUsage`: the gateway has to learn what the answer uses. */
  normalize(body: Json, needsUsage?: boolean): Normalization;

  /** Reads a whole answer, which may also report the upstream's failure. */
  readAnswer(answer: Json, record: Recorder, expected: ExpectedAnswer): void;
  /** A fresh reader for one stream. */
  openStream(expected: ExpectedAnswer): StreamDialect;

  renderError(error: GatewayError): string;
  /** The event that ends a broken stream; `sequence` is the number after the last event's. */
  renderErrorEvent(error: GatewayError, sequence: number): OutgoingEvent;
  /** A keep-alive for the client while the upstream is silent, in wire form. */
  readonly keepAlive: string;
}

/** Tokens as the upstream bills them, with the same meaning in all dialects. */
export interface TokenCounts {
  /** The whole prompt, including the two below. */
  readonly input?: number | undefined;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  /** The whole answer, including the one below. */
  readonly output?: number | undefined;
  readonly reasoning?: number | undefined;
}

/** What a request lets us expect of its answer. */
export interface ExpectedAnswer {
  readonly choices: number;
  /** The texts at which to stop. They are the caller's own words, so they reveal nothing to the caller. */
  readonly stops: ReadonlySet<string>;
  /** Whether it was the gateway that asked for usage in the stream. */
  readonly withholdsUsage?: boolean;
}

/** Everything about a request that the reading of its answer depends on. */
export interface AnswerFormat {
  readonly dialect: Dialect;
  readonly expected: ExpectedAnswer;
}

/** A dialect's reader of one stream. */
export interface StreamDialect {
  /**
   * Not called for an event that differs from one before it only in texts, counts and its number, and in what `unread` returns.
   * Called for a generated event too.
   */
  readEvent(event: Json, type: string | undefined, record: Recorder): void;
  /** The strings and numbers of an event that `readEvent` does not look at, whatever they are. */
  unread(event: Json): readonly Node[];
  /** Whether a `[DONE]` ends this stream. */
  readonly doneEnds: boolean;
  /** Makes events with more text for channels that the `last` event had text for. Each costs no more than what it carries. */
  deltasLike(last: OutgoingEvent): MakeDelta;
}

/** Makes an event that carries only `text`. */
export type MakeDelta = (channel: string, text: string, sequence: number) => OutgoingEvent;
