import type { Readable } from 'node:stream';
import { renderOpenAiError } from '../dialects/model/openai.ts';
import { toGatewayError } from '../errors.ts';
import type { Memory } from './memory.ts';

/** What an engine serves: the gateway, the account pages, or both. Apps know nothing of the platform. */
export type App = (incoming: IncomingRequest) => Promise<GatewayResponse>;

/** Text if the platform has already decoded the body, otherwise bytes. */
export type Body = string | Uint8Array;

/** A request on any platform. An engine creates it and writes the response. */
export interface IncomingRequest {
  readonly method: string;
  /** Still percent-encoded, without the query. */
  readonly path: string;
  /** By lower-case name. The values of a repeated header are joined by commas. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The host that was called, with its port unless that is the default. */
  readonly host: string;
  /** The caller's IP address, as reported by the platform or the load balancer. */
  readonly sourceAddress: string;
  /**
   * Buffers the whole body, up to the limit, and resolves with its size in bytes as received. Rejects if the body doesn't arrive, or
   * if there is no memory for it.
   */
  bodySize(limit?: number): number | Promise<number>;
  /** Reads the body to its end and discards it. Resolves with its size. */
  dropBody(): number | Promise<number>;
  /** Hands over the buffered body, once: the caller gets the only reference. */
  takeBody(): Promise<Body>;
  /** The memory that the request may use. The engine releases all of it when the response is over. */
  readonly memory: Memory;
  /**
   * Acquires a per-caller lock on counting the tokens of a long body. The lock is released when the response ends. Rejects with the
   * error to refuse the request with. Undefined if the platform gives each request its own process.
   */
  readonly waitToCount?: ((caller: string) => Promise<void>) | undefined;
  /** Milliseconds until the platform times out. */
  timeLeft(): number;
  /** Aborts when the client disconnects. Undefined if the platform doesn't report that. */
  readonly clientGone: AbortSignal | undefined;
  /** Aborts when the process shuts down and can't wait for the response. Its reason is the error to end with. */
  readonly shutdownSignal: AbortSignal | undefined;
  /** Whether the process accepts requests; while draining, only `/healthz` says that it doesn't. Undefined if the platform does its own health checks. */
  readonly health?: 'serving' | 'draining' | 'stopping';
}

export interface GatewayResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Readable;
  /** Work that may outlast a string body, but must finish before the process stops. A stream closes only once its own work is done. */
  readonly settled?: Promise<unknown> | undefined;
}

/** The response if the app fails to render its own error. */
export function lastResort(): GatewayResponse {
  const error = toGatewayError(undefined);
  const headers = { 'content-type': 'application/json' };
  return { statusCode: error.status, headers, body: renderOpenAiError(error) };
}
