import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { answerPrompt } from './answer.ts';
import { chat } from './chat.ts';
import type { DemoDialect } from './dialect.ts';
import { isObject, type JsonObject } from './json.ts';
import { messages } from './messages.ts';
import { responses } from './responses.ts';
import { VendorError, vendor, vendorId } from './vendor.ts';

export interface DemoUpstream {
  /** The base URL with its version prefix. */
  readonly url: string;
  readonly apiKey: string;
  readonly textModel: string;
  readonly visionModel: string;
  /** The names that the gateway must hide: `UPSTREAM_NAMES`. */
  readonly names: readonly string[];
  close(): Promise<void>;
}

/** The settings of a gateway in front of it. */
export const settingsFor = ({ url, apiKey, textModel, visionModel, names }: Omit<DemoUpstream, 'close'>) => ({
  UPSTREAM_BASE_URL: url,
  UPSTREAM_API_KEYS: apiKey,
  UPSTREAM_TEXT_MODEL: textModel,
  UPSTREAM_VISION_MODEL: visionModel,
  UPSTREAM_NAMES: names.join(','),
});

export interface DemoUpstreamOptions {
  readonly port?: number;
  readonly host?: string;
  /** Milliseconds between two events of a stream, so that a person sees it flow. */
  readonly pace?: number;
  readonly now?: () => number;
}

const dialects: Readonly<Record<string, DemoDialect>> = {
  '/v1/chat/completions': chat,
  '/v1/responses': responses,
  '/v1/messages': messages,
  '/v1/messages/count_tokens': messages,
};

/** Starts a pretend maker of models that answers all three dialects, so that nobody needs an account to try them. */
export async function startDemoUpstream(options: DemoUpstreamOptions = {}): Promise<DemoUpstream> {
  const { port = 0, host = '127.0.0.1', pace = 15, now = Date.now } = options;
  let number = 0;
  const server = createServer(async (request, response) => {
    number += 1;
    for (const [name, value] of Object.entries(vendor.headers)) response.setHeader(name, value);
    response.setHeader('x-request-id', vendorId('req_', number));
    const path = request.url?.split('?')[0] ?? '';
    const dialect = dialects[path];
    try {
      if (!dialect || request.method !== 'POST')
        throw new VendorError(404, `Quillon has no ${request.method} ${path}.`);
      checkKey(request);
      const body = parseBody(await readText(request));
      const model = checkModel(body);
      const prompt = dialect.read(body);
      if (path.endsWith('/count_tokens')) {
        sendJson(response, 200, { input_tokens: prompt.inputTokens });
        return;
      }
      if (dialect === messages && typeof body.max_tokens !== 'number') {
        throw new VendorError(400, 'max_tokens: Quillon needs this field.');
      }
      const reply = { answer: answerPrompt(prompt), body, model, number, created: Math.floor(now() / 1000) };
      if (body.stream === true) await sendStream(response, dialect.frames(reply), pace);
      else sendJson(response, 200, dialect.whole(reply));
    } catch (thrown) {
      if (response.headersSent || response.destroyed) response.destroy();
      else if (thrown instanceof VendorError) sendJson(response, thrown.status, (dialect ?? chat).error(thrown));
      else sendJson(response, 500, (dialect ?? chat).error(new VendorError(500, `Quillon failed: ${thrown}`)));
    }
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  const address = server.address() as AddressInfo;
  return {
    url: `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}/v1`,
    apiKey: vendor.apiKey,
    textModel: vendor.textModel,
    visionModel: vendor.visionModel,
    names: vendor.names,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function checkKey({ headers }: IncomingMessage): void {
  const key = headers['x-api-key'] ?? headers.authorization?.replace(/^Bearer /i, '');
  if (key !== vendor.apiKey) throw new VendorError(401, `Wrong Quillon key. Find yours at ${vendor.consoleUrl}.`);
}

function parseBody(text: string): JsonObject {
  try {
    const body: unknown = JSON.parse(text);
    if (isObject(body)) return body;
  } catch {
    // Invalid JSON gets the same answer as a body that is not an object.
  }
  throw new VendorError(400, 'Quillon could not read the body: it is no JSON object.');
}

function checkModel(body: JsonObject): string {
  const model = [vendor.textModel, vendor.visionModel].find((known) => known === body.model);
  if (model === undefined) throw new VendorError(404, `Quillon has no model '${body.model}'.`);
  return model;
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function sendJson(response: ServerResponse, status: number, body: JsonObject): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Ends early, without a fault, when the reader goes away. */
async function sendStream(response: ServerResponse, frames: Iterable<string>, pace: number): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  const paced = async function* () {
    for (const frame of frames) {
      yield frame;
      if (pace > 0) await wait(pace);
    }
  };
  await pipeline(Readable.from(paced()), response);
}
