import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** One request being answered, as the steps of its script see it. */
export interface Exchange {
  readonly response: ServerResponse;
  readonly socket: Socket;
  /** Resolves when the connection is closed, by either side. */
  readonly gone: Promise<void>;
  /** Bytes of the body that the connection has accepted. Stalls under back-pressure. */
  bytesWritten: number;
  /** Whether the script itself broke the connection. */
  cut: boolean;
}

export type Step = (exchange: Exchange) => void | Promise<void>;

/**
 * The steps that answer one request. After the last step the response is ended if its head was sent; otherwise (as with an
 * empty script) the client is left waiting.
 */
export type Script = readonly Step[];

type Bytes = string | Uint8Array;

/** Plays a script to its end, or until the connection is closed. */
export async function play(script: Script, exchange: Exchange): Promise<void> {
  for (const step of script) {
    if (exchange.socket.destroyed) return;
    await step(exchange);
  }
  if (exchange.response.headersSent) exchange.response.end();
}

/** Sends status and headers at once. With an explicit `content-length`, the body may be shorter or longer than it says. */
export const head =
  (status: number, headers: OutgoingHttpHeaders = {}): Step =>
  ({ response }) => {
    response.writeHead(status, headers);
    response.flushHeaders();
  };

/** An interim response, such as 100 or 103, before the head. */
export const interim = (status: number, headers: Readonly<Record<string, string>> = {}): Step => {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return raw(`HTTP/1.1 ${status} Interim\r\n${lines.join('')}\r\n`);
};

export const write =
  (bytes: Bytes): Step =>
  (exchange) =>
    deliver(exchange, Buffer.from(bytes));

/** Waits this many milliseconds. */
export const pause =
  (time: number): Step =>
  () =>
    setTimeout(time);

/** Waits for the test's signal. */
export const until =
  (passed: Promise<unknown>): Step =>
  async ({ gone }) => {
    await Promise.race([passed, gone]);
  };

/** Sends nothing more and keeps the connection open until the client leaves. */
export const silence: Step = ({ gone }) => gone;

/** Closes the connection without ending the response. */
export const hangUp: Step = (exchange) => {
  exchange.cut = true;
  exchange.socket.end();
};

/** Resets the connection: before any response if it is the first step, within the head after `raw('HTTP/1.1 20')`. */
export const reset: Step = (exchange) => {
  exchange.cut = true;
  exchange.socket.resetAndDestroy();
};

/** Writes bytes straight to the connection, bypassing HTTP. */
export const raw =
  (bytes: Bytes): Step =>
  ({ socket, gone }) =>
    Promise.race([new Promise<void>((resolve) => socket.write(bytes, () => resolve())), gone]);

/** A long body that repeats one piece, written only as fast as the reader takes it. */
export const flood =
  (size: number, piece: Bytes = Buffer.alloc(65_536, 'x')): Step =>
  async (exchange) => {
    const bytes = Buffer.from(piece);
    const stop = exchange.bytesWritten + size;
    while (exchange.bytesWritten < stop && !exchange.socket.destroyed) {
      await deliver(exchange, bytes.subarray(0, stop - exchange.bytesWritten));
    }
  };

export const json = (status: number, value: unknown, headers: OutgoingHttpHeaders = {}): Script => [
  head(status, { 'content-type': 'application/json', ...headers }),
  write(JSON.stringify(value)),
];

/** A whole event stream: raw text, or events whose data is text or a value to print as JSON. */
export const sse = (stream: Bytes | readonly ServerEvent[], headers: OutgoingHttpHeaders = {}): Script => [
  head(200, { 'content-type': 'text/event-stream; charset=utf-8', ...headers }),
  ...(typeof stream === 'string' || stream instanceof Uint8Array
    ? [write(stream)]
    : stream.map((event) => write(eventText(event)))),
];

export const html = (
  status: number,
  text = '<!doctype html><title>AcmeCorp</title><h1>Thunder is down</h1>',
): Script => [head(status, { 'content-type': 'text/html; charset=utf-8' }), write(text)];

/** A response without a body. */
export const empty = (status: number, headers: OutgoingHttpHeaders = {}): Script => [
  head(status, { 'content-length': '0', ...headers }),
];

export interface ServerEvent {
  readonly event?: string;
  readonly data: unknown;
}

export function eventText({ event, data }: ServerEvent): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`;
}

/** Writes part of the body, respecting back-pressure. */
async function deliver(exchange: Exchange, bytes: Uint8Array): Promise<void> {
  const { response, gone } = exchange;
  await Promise.race([new Promise<void>((resolve) => response.write(bytes, () => resolve())), gone]);
  if (!exchange.socket.destroyed) exchange.bytesWritten += bytes.length;
}
