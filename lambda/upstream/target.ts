import type { RequestOptions } from 'node:http';
import { urlToHttpOptions } from 'node:url';

/** Where POSTs to an upstream go. */
export interface Target {
  /** Only what Node's client needs, since it copies them for each request. */
  readonly options: RequestOptions;
  /** The headers of a request as a list, which is written as it is: Node would copy a record and sort it out again. */
  listHeaders(headers: Readonly<Record<string, string>>): string[];
}

export function targetAt(address: URL): Target {
  const { hostname, port, path } = urlToHttpOptions(address);
  const { host } = address;
  return {
    options: { hostname, port, path, method: 'POST' },
    listHeaders: (headers) => Object.entries({ host, ...headers }).flat(),
  };
}
