import type { IncomingMessage, ServerResponse } from 'node:http';
import { targetOf } from './http-message.ts';
import { listen } from './listen.ts';

interface Options {
  readonly host: string;
  readonly port: number;
  readonly render: () => string;
  readonly onError: (error: Error) => void;
}

/** Serves metrics at /metrics, on a port of its own: they need no key, and callers should not reach them. */
export async function startMetricsServer({ host, port, render, onError }: Options) {
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const isAsked = request.method === 'GET' && targetOf(request).path === '/metrics';
    const type = isAsked ? 'text/plain; version=0.0.4; charset=utf-8' : 'text/plain; charset=utf-8';
    response.writeHead(isAsked ? 200 : 404, { 'content-type': type });
    response.end(isAsked ? render() : 'The metrics are at GET /metrics.\n');
  };
  const { url, drain, cut } = await listen({ host, port, portSetting: 'METRICS_PORT', serve, onError });
  return {
    url,
    stop(): void {
      void drain();
      cut();
    },
  };
}
