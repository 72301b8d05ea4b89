import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { leastSecret, secretHeader } from '../terms.ts';
import type { CredentialsReport } from './describe-credentials.ts';

interface World {
  /** SHA-256 of the secret, in hex. The secret itself is never deployed. */
  readonly secretHash: string;
  readonly describeCredentials: () => Promise<CredentialsReport>;
  /** A clock that only goes forward, in milliseconds. */
  readonly now: () => number;
}

/** The longest that a platform lets a request run. */
const longest = 900;

/** Shows callers who know the secret how the platform delivered their request, and answers everybody else 404. */
export function createListener({ secretHash, describeCredentials, now }: World): RequestListener {
  /** By the name of a stay: the milliseconds until its client was seen to leave; undefined while it is there. */
  const stays = new Map<string, number | undefined>();

  const stay = async (response: ServerResponse, name: string): Promise<void> => {
    const begin = now();
    stays.set(name, undefined);
    response.once('close', () => stays.set(name, now() - begin));
    response.writeHead(200);
    while (!response.destroyed && now() - begin < longest * 1000) {
      response.write('.\n');
      await wait(50);
    }
  };

  const routes: Readonly<
    Record<string, (request: IncomingMessage, response: ServerResponse, query: URLSearchParams) => unknown>
  > = {
    'GET /request': (request, response) => {
      const addresses = (request.headersDistinct['x-forwarded-for'] ?? []).join(',').split(',');
      reply(response, {
        addresses: addresses.map((one) => one.trim()),
        headers: [...new Set(Object.keys(request.headers))].filter((name) => name !== secretHeader).sort(),
        httpVersion: request.httpVersion,
      });
    },
    'POST /body': async (request, response) => {
      let bytes = 0;
      for await (const chunk of request) bytes += chunk.length;
      reply(response, { bytes });
    },
    'GET /silence': async (_request, response, query) => {
      const time = Math.min(Number(query.get('seconds')) || 0, longest) * 1000;
      if (query.get('before') === 'head') await wait(time, undefined, { ref: false });
      response.writeHead(200);
      response.write('begin\n');
      if (query.get('before') !== 'head') await wait(time, undefined, { ref: false });
      response.end('end\n');
    },
    'GET /stay': (_request, response, query) => stay(response, query.get('name') ?? ''),
    'GET /left': (_request, response, query) => {
      const name = query.get('name') ?? '';
      reply(response, { known: stays.has(name), leftAfter: stays.get(name) });
    },
    'GET /credentials': async (_request, response) => reply(response, await describeCredentials()),
  };

  return async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://probe');
    const route = routes[`${request.method} ${url.pathname}`];
    response.on('error', () => {});
    try {
      if (route && knows(request.headers[secretHeader], secretHash)) await route(request, response, url.searchParams);
      else {
        request.resume();
        response.writeHead(404).end();
      }
    } catch {
      response.destroy(); // the client has gone
    }
  };
}

/** Compares hashes, which have equal lengths, in constant time. */
function knows(given: string | string[] | undefined, secretHash: string): boolean {
  if (typeof given !== 'string' || given.length < leastSecret) return false;
  return timingSafeEqual(createHash('sha256').update(given).digest(), Buffer.from(secretHash, 'hex'));
}

function reply(response: ServerResponse, value: object): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}
