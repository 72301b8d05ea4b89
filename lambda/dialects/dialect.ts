import type { GatewayError } from '../http/errors.ts';
import type { Edit } from '../json/edit.ts';
import type { Json, Node } from '../json/scan.ts';
import type { Address } from '../settings/settings.ts';

/** One public path of a dialect and where it leads upstream. */
export interface Endpoint {
  readonly path: string;
  readonly upstreamPath: string;
  /** Which of an upstream's addresses the upstream path is appended to. */
  readonly address: Address;
  /** Whether a request counts against the quota; one that does not is under a burst limit of its own. */
  readonly charged: boolean;
  /** Whether an upstream may well not have it: then the client hears so, as of an unknown path. */
  readonly optional: boolean;
  /** Whether `stream: true` asks for server-sent events here. */
  readonly streams: boolean;
  /** Clients try a WebSocket here, with a beta of this name, and do without it once they are told that there is none. */
  readonly webSocketBeta?: RegExp;
}

/** The changes that a dialect asks for in a body. */
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
 * Where a dialect writes down what it sees in one answer or event. The dialect knows the structure; what is done
 * about it (replacing, holding text back, dropping) is the same for all and stands in stream/hide.ts and rewrite-stream.ts.
 */
export interface Marks {
  /** The value that names the model. */
  model(value: Node): void;
  /** The sentence that says what went wrong, in an event that is forwarded. */
  explanation(value: Node): void;
  /** Members that would tell who answered. */
  drop(object: Node, key: Node): void;
  /** A value that a program reads back: it and all inside it stay untouched. */
  pass(value: Node): void;
  /**
   * A piece of generated text. Pieces of one `channel` follow one another; `family` names the channels whose texts a
   * client may join. The value at `logprobs`, if any, becomes null where the text is changed.
   */
  delta(channel: string, family: string, value: Node, logprobs?: Node): void;
  /** A whole text: all that its channel says, whether or not its pieces went before. */
  whole(channel: string, family: string, value: Node, logprobs?: Node): void;
  /** Token probabilities, which spell a text of their own: they become null where that names someone. */
  tokens(channel: string, value: Node, isWhole: boolean): void;
  /**
   * The channels with this prefix end with this event: what they hold back leaves before it, or in it. A prefix is
   * empty, up to four steps with their slashes (`0/`), or a whole channel.
   */
  close(prefix: string): void;
  /** Of the channels with this prefix, one has the word: what others hold back leaves before this event. */
  turn(prefix: string): void;
  /** The number that counts the events of the stream. */
  sequence(value: Node): void;
  /** Tokens as the upstream counts them up to now. */
  usage(counts: TokenCounts): void;
  /** An event that the client did not ask for: it is read, and goes no further. */
  withhold(): void;
  /** An event that only shows that the upstream is alive: not a first event. */
  alive(): void;
  /** The stream ends with this event. */
  end(): void;
  /** The upstream may stop here without further words: not a break any more. */
  mayEnd(): void;
  /** The upstream reports that it failed; `forward` where the event itself is the dialect's way to say so. */
  fail(message: string, forward?: boolean): void;
}

/** Everything in which the dialects differ. Pure: data in, data out. */
export interface Dialect {
  readonly name: string;
  readonly endpoints: readonly Endpoint[];
  /** The headers that carry the upstream key. */
  authorize(key: string): Record<string, string>;

  /** Top-level members that the gateway reads: where one is repeated, only the last is kept. */
  readonly controlMembers: ReadonlySet<string>;
  /** Refuses a body that this dialect can't mean; throws `invalid_request`. */
  checkBody(body: Json): void;
  /** Where the body holds image or video content, as a path for the error message. */
  findVision(body: Json): string | undefined;
  /** Whether the body refers to things that the upstream may have stored: then it is the caller who is told of a 404. */
  hasReferences(body: Json): boolean;
  /** The texts by which the turns of a conversation are known: the instructions, and what its user said first. */
  findOpening(body: Json): readonly Node[];
  /** Whether the body brings back what only the account that made it can read: encrypted reasoning, signed thinking. */
  isAccountBound(body: Json): boolean;
  /** What the body asks for that its answer is read by. */
  readAsked(body: Json): Asked;
  /** What is changed before forwarding. */
  normalize(body: Json): Normalization;

  /** Reads a whole answer, which may be the upstream's way to say that it failed. */
  readAnswer(answer: Json, marks: Marks, asked: Asked): void;
  /** A fresh reader for one stream. */
  openStream(asked: Asked): StreamDialect;

  renderError(error: GatewayError): string;
  /** The event that ends a stream which broke; `sequence` is the number that follows the last event's. */
  renderErrorEvent(error: GatewayError, sequence: number): OutgoingEvent;
  /** What a client gets while the upstream is silent, in wire form. */
  readonly keepAlive: string;
}

/** Tokens as the upstream bills them, in one meaning for all dialects. */
export interface TokenCounts {
  /** All of the prompt's, those below included. */
  readonly input?: number | undefined;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  /** All of the answer's, those below included. */
  readonly output?: number | undefined;
  readonly reasoning?: number | undefined;
}

/** What a request asked for that its answer is read by. */
export interface Asked {
  /** How many choices there are to come. */
  readonly choices: number;
  /** Texts at which it is to end: the caller's own words, which name nobody to the caller. */
  readonly stops: ReadonlySet<string>;
  /** Whether it was the gateway that asked for usage in the stream. */
  readonly withholdsUsage?: boolean;
}

/** How a request was asked: all that the reading of its answer depends on. */
export interface Question {
  readonly dialect: Dialect;
  readonly asked: Asked;
}

/** What a dialect knows of one running stream. */
export interface StreamDialect {
  /** Not called for an event that differs from the one before in nothing but the text of its only delta. */
  readEvent(event: Json, type: string | undefined, marks: Marks): void;
  /** Whether a `[DONE]` ends this stream. */
  readonly doneEnds: boolean;
  /** Tells more text in channels for which the `last` event had some. Each event costs no more than what it carries. */
  tellAfter(last: OutgoingEvent): TellText;
}

/** An event that carries nothing but `text`. */
export type TellText = (channel: string, text: string, sequence: number) => OutgoingEvent;
