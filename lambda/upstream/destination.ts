import type { Dialect, Endpoint } from '../dialects/dialect.ts';
import { translationTarget } from '../dialects/names.ts';
import type { Upstream } from '../settings/read-upstreams.ts';

/** What a client asks for. */
export interface Asked {
  readonly dialect: Dialect;
  readonly endpoint: Endpoint;
}

/** The dialect in which an upstream is asked: the client's, or the one it is translated into. Undefined if it can't be asked. */
export function spokenTo({ dialects, models }: Upstream, asked: Asked): Dialect['name'] | undefined {
  const { name } = asked.dialect;
  if (asked.endpoint.embeddings) return models[name].embedding === undefined ? undefined : name;
  const spoken = dialects.find((one) => one === name);
  return asked.endpoint.compacts ? spoken : (spoken ?? translationTarget(dialects));
}

/** Whether requests of some of these dialects are translated, or thoughts sealed in answers. */
export const translates = (upstreams: readonly Upstream[], dialects: readonly Dialect[]): boolean =>
  upstreams.some(
    (one) => one.signsThinking || dialects.some(({ name }) => !one.dialects.some((spoken) => spoken === name)),
  );

/** Whether an upstream takes a request as it is. */
export const speaks = (upstream: Upstream, asked: Asked): boolean => spokenTo(upstream, asked) === asked.dialect.name;

/** The base of the URL that an upstream is asked at. */
export function addressAt(upstream: Upstream, asked: Asked): string | undefined {
  const spoken = spokenTo(upstream, asked);
  if (asked.endpoint.countsTokens && !speaks(upstream, asked)) return upstream.translation.countUrl;
  return spoken && upstream.addresses[spoken];
}
