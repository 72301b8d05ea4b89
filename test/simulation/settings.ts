import { type Plan, requestsOf } from './plan.ts';
import { hidden } from './speech.ts';
import { tableNames } from './store/tables.ts';

/** Such that no sum comes out even. */
export const prices = { input: 2.500001, output: 10.000003 };

export const salt = 'the salt of the simulation';

/** The settings of a world's gateway. */
export function settingsOf(plan: Plan): Record<string, string> {
  const [first = '', second = '', third = ''] = hidden.keys;
  const offersVectors = requestsOf(plan).some(({ asks }) => asks === 'for vectors');
  const upstream = (prefix: string, host: string | undefined, keys: readonly string[]) => ({
    [`${prefix}_BASE_URL`]: `https://${host}/v1`,
    [`${prefix}_TEXT_MODEL`]: hidden.textModel,
    [`${prefix}_VISION_MODEL`]: hidden.visionModel,
    ...(offersVectors && { [`${prefix}_EMBEDDINGS_MODEL`]: hidden.vectorsModel }),
    [`${prefix}_API_KEYS`]: keys.join(','),
    ...(plan.speaks !== 'all' && { [`${prefix}_DIALECTS`]: plan.speaks }),
    ...(plan.speaks === 'messages' && { [`${prefix}_OUTPUT_LIMIT`]: '200' }),
    ...(plan.signs && { [`${prefix}_SIGNS_THINKING`]: 'true' }),
  });
  return {
    ...upstream('UPSTREAM', hidden.hosts[0], plan.keys > 1 ? [first, second] : [first]),
    ...(plan.upstreams > 1 && upstream('UPSTREAM_2', hidden.hosts[1], [third])),
    UPSTREAM_NAMES: hidden.names.join(','),
    KEYS_TABLE: tableNames.keysTable,
    QUOTA_TABLE: tableNames.quotaTable,
    NETWORK_SALT: salt,
    PRICES: JSON.stringify({
      ...{ svc: prices, 'svc-vision': prices },
      ...(offersVectors && { 'svc-embedding': { input: prices.input } }),
    }),
    AWS_LAMBDA_HTTP_ENDPOINT: '127.0.0.1:8080',
    ...plan.settings,
  };
}
