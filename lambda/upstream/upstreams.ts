import type { KeyObject } from 'node:crypto';
import type { Dialect } from '../dialects/dialect.ts';
import { dialects } from '../dialects/index.ts';
import type { RemovedSeals, SealRemoval } from '../dialects/model/remove-seals.ts';
import type { RequestTranslation, Translation } from '../dialects/translation.ts';
import type { Job } from '../jobs/jobs.ts';
import type { Config } from '../settings/config.ts';
import type { ReadAccess, Upstream } from '../settings/read-upstreams.ts';
import { secretHint } from '../settings/warnings.ts';
import { createRankKeys } from './conversation.ts';
import { type Asked, addressAt } from './destination.ts';
import { type AskUpstreams, createFailover } from './failover.ts';
import { createHttpClient } from './http-client.ts';
import { createPool } from './pool.ts';
import { createPrepare } from './prepare.ts';

interface Dependencies {
  /** The most connections at once; unlimited if absent. */
  readonly sockets: number | undefined;
  readonly readAccess: ReadAccess;
  readonly subkey: (label: string) => Promise<KeyObject>;
  readonly jobs: {
    readonly translate: Job<RequestTranslation, Translation>;
    readonly removeSeals: Job<SealRemoval, RemovedSeals>;
    readonly isAccountBound: Job<Dialect['name'], boolean>;
  };
  readonly now: () => number;
}

export interface Upstreams {
  readonly ask: AskUpstreams;
  /** Whether any has a key. */
  readonly isConfigured: () => Promise<boolean>;
  /** Opens a connection to the upstream that will probably be asked. */
  readonly preconnect: (asked: Asked) => Promise<void>;
}

export function createUpstreams(
  { all, upstreamConnectTimeout }: Config['upstreams'],
  { sockets, readAccess, subkey, jobs, now }: Dependencies,
): Upstreams {
  const { translate, removeSeals, isAccountBound } = jobs;
  const pool = createPool({ upstreams: all, readAccess, rankKeys: createRankKeys(subkey), now });
  const httpClient = createHttpClient({ connectTimeout: upstreamConnectTimeout, sockets, now });
  // Requests may be translated into these.
  const prepare = createPrepare({ translate, removeSeals, dialects, readSealSalt: () => subkey('seals') });
  return {
    ask: createFailover({ pool, send: httpClient.send, prepare, isAccountBound, now }),
    isConfigured: pool.hasKeys,
    async preconnect(asked) {
      const upstream = await pool.next((one) => addressAt(one, asked) !== undefined);
      const address = upstream && addressAt(upstream, asked);
      if (address !== undefined) httpClient.preconnect(address);
    },
  };
}

/** Reports keys that are not in the secret. */
interface KeyLog {
  readonly keysMissing: (secret: string, hint: string) => void;
  readonly keysNotRead: (secret: string | undefined, cause: unknown) => void;
}

/** Prefetches the keys and reports missing ones at start, rather than with the first refused request. */
export async function prefetchKeys(
  all: readonly Upstream[],
  secretId: string | undefined,
  readAccess: ReadAccess,
  log: KeyLog,
): Promise<void> {
  const makesTokens = all.some(({ tokenRegion }) => tokenRegion !== undefined);
  if (secretId === undefined && !makesTokens) return;
  try {
    const accesses = await Promise.all(all.map((upstream) => readAccess(upstream)));
    const keyless = all.filter((_upstream, place) => accesses[place]?.keys.length === 0);
    if (keyless.length > 0 && secretId !== undefined) log.keysMissing(secretId, secretHint(keyless, all));
  } catch (error) {
    log.keysNotRead(secretId, error);
  }
}
