import type { IncomingMessage, ServerResponse } from 'node:http';
import { targetOf } from './http-message.ts';
import { listen } from './listen.ts';

interface Options {
  readonly host: string;
  readonly port: number;
  readonly render: () => string;
  readonly onError: (error: Error) => void;
  /** Milliseconds for a scraper to read its response. */
  readonly readTimeout?: number;
}

// There are few scrapers, with small requests. More connections would take descriptors away from callers.
const limits = {
  maxConnections: 16,
  headersTimeout: 10_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 5_000,
};

/** Serves /metrics on a separate port, because it needs no key and callers should not reach it. */
export async function startMetricsServer({ host, port, render, onError, readTimeout = 10_000 }: Options) {
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const isAsked = request.method === 'GET' && targetOf(request).path === '/metrics';
    const type = isAsked ? 'text/plain; version=0.0.4; charset=utf-8' : 'text/plain; charset=utf-8';
    response.writeHead(isAsked ? 200 : 404, { 'content-type': type });
    response.end(isAsked ? render() : 'The metrics are at GET /metrics.\n');
    // The request stays active until its response is read, so pipelined requests that read nothing render few responses.
    const timer = setTimeout(() => request.socket.destroy(), readTimeout).unref();
    if (!response.closed) await new Promise((resolve) => response.once('close', resolve));
    clearTimeout(timer);
  };
  const { url, drain, cut } = await listen({ host, port, portSetting: 'METRICS_PORT', serve, onError, limits });
  return {
    url,
    stop(): void {
      void drain();
      cut();
    },
  };
}
