import type { Finding, Row } from '../examination/row.ts';
import { bearer } from './examine-keys.ts';
import type { Acquaintance } from './greet.ts';
import { judgeExposed, judgePreflight, preflightHeaders } from './judge-cors.ts';
import type { Ask, Probe } from './probe.ts';

export const preflightOf = (origin: string): Ask => ({
  method: 'OPTIONS',
  path: '/v1/chat/completions',
  headers: preflightHeaders(origin),
});

/** Whether a page may send requests and read the headers of the answers. */
export async function* examineCors(
  ask: Probe,
  key: string,
  { headerPrefix }: Acquaintance,
  origin: string,
): AsyncGenerator<Row> {
  const row = (check: string, finding: Finding): Row => ({ area: 'cors', check, ...finding });
  const preflight = await ask(preflightOf(origin));
  yield row('preflight', judgePreflight(preflight, origin));
  const read = await ask({ method: 'GET', path: '/v1/models', headers: { ...bearer(key), origin } });
  yield row('headers a page can read', judgeExposed(read, headerPrefix, origin));
  const refused = await ask({ method: 'GET', path: '/v1/models', headers: { origin } });
  yield row('errors a page can read', judgeExposed(refused, headerPrefix, origin));
}
