import { type Finding, fail, note, ok, type Row } from '../examination/row.ts';
import { unknownKey } from './examine-errors.ts';
import type { Acquaintance } from './greet.ts';
import { faultInError } from './judge-error.ts';
import { type Ask, type Probe, quote } from './probe.ts';

export const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

const list = (headers: Record<string, string>): Ask => ({ method: 'GET', path: '/v1/models', headers });

/** Whose quota a request uses: which header wins, and what happens without a real key. */
export async function* examineKeys(
  ask: Probe,
  key: string,
  { headerPrefix }: Acquaintance,
  closed: boolean,
): AsyncGenerator<Row> {
  const row = (check: string, finding: Finding): Row => ({ area: 'keys', check, ...finding });
  const first = await ask(list({ 'x-api-key': key, ...bearer(unknownKey) }));
  const second = await ask(list({ 'x-api-key': unknownKey, ...bearer(key) }));
  const expected = { code: 'invalid_api_key', shape: 'openai' } as const;
  const fault =
    first.status === 200
      ? faultInError(second, expected, headerPrefix)
      : `a good x-api-key is answered ${quote(first)}`;
  yield row('which header counts', fault === undefined ? ok('x-api-key before Authorization') : fail(fault));

  const guest = await ask(list(bearer('guest')));
  const refusal = guest.status === 200 ? undefined : faultInError(guest, expected, headerPrefix);
  if (guest.status !== 200 && refusal === undefined)
    yield row('a placeholder', note('is refused: there are no guests'));
  else if (refusal !== undefined) yield row('a placeholder', fail(refusal));
  else yield row('a placeholder', closed ? fail('is served, though the stage has ACCESS=keys') : ok('is a guest'));
}
