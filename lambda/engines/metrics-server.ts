import type { IncomingMessage, ServerResponse } from 'node:http';
import { targetOf } from './http-message.ts';
import { listen } from './listen.ts';

interface Options {
  readonly host: string;
  readonly port: number;
  readonly render: () => string;
  readonly onError: (error: Error) => void;
  /** In milliseconds: how long a scraper may take to read its answer. */
  readonly patience?: number;
}

// Scrapers are few, and what they ask fits in a packet. The descriptors for anybody else are the callers'.
const limits = {
  maxConnections: 16,
  headersTimeout: 10_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 5_000,
};

/** Serves metrics at /metrics, on a port of its own: they need no key, and callers should not reach them. */
export async function startMetricsServer({ host, port, render, onError, patience = 10_000 }: Options) {
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const isAsked = request.method === 'GET' && targetOf(request).path === '/metrics';
    const type = isAsked ? 'text/plain; version=0.0.4; charset=utf-8' : 'text/plain; charset=utf-8';
    response.writeHead(isAsked ? 200 : 404, { 'content-type': type });
    response.end(isAsked ? render() : 'The metrics are at GET /metrics.\n');
    // A request counts as running until its answer has been read: whoever sends thousands and reads none gets few rendered.
    const timer = setTimeout(() => request.socket.destroy(), patience).unref();
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
