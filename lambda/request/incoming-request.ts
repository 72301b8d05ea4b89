import type { Readable } from 'node:stream';
import { renderOpenAiError } from '../dialects/model/openai.ts';
import { toGatewayError } from '../errors.ts';
import type { Memory } from './memory.ts';

/** The whole gateway, or the pages, as an engine serves them: no app knows a platform. */
export type App = (call: IncomingRequest) => Promise<GatewayResponse>;

/** A body as its engine has it: text if the platform has already decoded it, else bytes. */
export type Body = string | Uint8Array;

/** A request as an app sees it, on any platform: an engine makes it, and writes the response. */
export interface IncomingRequest {
  readonly method: string;
  /** Still percent-encoded, without the query. */
  readonly path: string;
  /** By lower-case name; the values of a repeated one are joined by commas. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The host that was called, with its port unless that is the default one. */
  readonly host: string;
  /** The caller's address, as the platform or the balancer in front reports it. */
  readonly sourceAddress: string;
  /**
   * Buffers the whole body, up to the limit, and resolves with its size in bytes as received. Rejects if it doesn't arrive, or if
   * there is no memory for it.
   */
  bodySize(limit?: number): number | Promise<number>;
  /** Reads a body to its end without keeping it, and resolves with the same. */
  dropBody(): number | Promise<number>;
  /** Gives the body away, once: the taker holds the only reference. */
  takeBody(): Promise<Body>;
  /** The memory that the request may hold; the engine gives all of it back when the answer is over. */
  readonly memory: Memory;
  /**
   * A lock for each caller: only one of its long bodies at a time has its tokens counted. Resolves once the lock is held, which the end
   * of the answer releases; rejects with the error to refuse the request with. Undefined on a platform that gives each request a process of its own.
   */
  readonly waitToCount?: ((caller: string) => Promise<void>) | undefined;
  /** Milliseconds until the platform gives up. */
  timeLeft(): number;
  /** Aborts when the client goes away; undefined if the platform doesn't report that. */
  readonly clientGone: AbortSignal | undefined;
  /** Aborts when the process stops and can't wait for the answer; its reason is the error to end with. */
  readonly shutdownSignal: AbortSignal | undefined;
  /** Whether the process takes requests, for `/healthz`; undefined where the platform keeps track itself. */
  readonly health?: 'serving' | 'stopping';
}

export interface GatewayResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Readable;
  /** What need not be done before a text has gone, but before its process may stop. A stream closes when it is done. */
  readonly settled?: Promise<unknown> | undefined;
}

/** The answer when the app fails to render its own error. */
export function lastResort(): GatewayResponse {
  const error = toGatewayError(undefined);
  const headers = { 'content-type': 'application/json' };
  return { statusCode: error.status, headers, body: renderOpenAiError(error) };
}
