import type { Dialect, Endpoint } from '../dialects/dialect.ts';
import { translationTarget } from '../dialects/names.ts';
import type { Upstream } from '../settings/read-upstreams.ts';

/** The dialect and endpoint of a client's request. */
export interface Asked {
  readonly dialect: Dialect;
  readonly endpoint: Endpoint;
}

/** The dialect to ask an upstream in: the client's own, or the one to translate it into. Undefined if it can't serve the request. */
export function spokenTo({ dialects, models }: Upstream, asked: Asked): Dialect['name'] | undefined {
  const { name } = asked.dialect;
  if (asked.endpoint.embeddings) return models[name].embedding === undefined ? undefined : name;
  const spoken = dialects.find((one) => one === name);
  return asked.endpoint.compacts ? spoken : (spoken ?? translationTarget(dialects));
}

/** Whether this deployment needs translation or seals: an upstream lacks one of these dialects, or signs its reasoning. */
export const translates = (upstreams: readonly Upstream[], dialects: readonly Dialect[]): boolean =>
  upstreams.some(
    (one) => one.signsThinking || dialects.some(({ name }) => !one.dialects.some((spoken) => spoken === name)),
  );

/** Whether an upstream speaks the client's dialect, so that the request needs no translation. */
export const speaks = (upstream: Upstream, asked: Asked): boolean => spokenTo(upstream, asked) === asked.dialect.name;

/** The base URL to ask an upstream at. */
export function addressAt(upstream: Upstream, asked: Asked): string | undefined {
  const spoken = spokenTo(upstream, asked);
  if (asked.endpoint.countsTokens && !speaks(upstream, asked)) return upstream.translation.countUrl;
  return spoken && upstream.addresses[spoken];
}
