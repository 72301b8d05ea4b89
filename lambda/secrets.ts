import type { Upstream } from './config.ts';
import { GatewayError } from './errors.ts';
import { splitList } from './settings.ts';

/** Reads the text of a secret by its name or ARN. */
export type ReadSecret = (id: string) => Promise<string>;

interface Dependencies {
  readonly readSecret: ReadSecret;
  readonly now: () => number;
  /** Told when a refresh failed and the last known values stay in use. */
  readonly onStale: (error: unknown) => void;
}

interface Settings {
  readonly upstreamSecretId: string | undefined;
  readonly networkSalt: string | undefined;
  readonly networkSaltSecretId: string | undefined;
}

export interface Secrets {
  /** The keys of an upstream: those of the environment, else those of the secret. */
  upstreamKeys(upstream: Upstream): Promise<readonly string[]>;
  networkSalt(): Promise<string>;
}

/** A rotated secret is in use everywhere within a minute. */
const refreshTime = 60_000;
/** A reader that does not answer must not hold a request up for longer than the tables may. */
const timeLimit = 2_000;

export function createSecrets(settings: Settings, { readSecret, now, onStale }: Dependencies): Secrets {
  const { upstreamSecretId, networkSalt, networkSaltSecretId } = settings;
  let known: { readonly keys: Keys; readonly readAt: number } | undefined;
  let reading: Promise<Keys> | undefined;
  let salt: Promise<string> | undefined;

  const refresh = async (id: string): Promise<Keys> => {
    const readAt = now();
    try {
      known = { keys: parseKeys(await withinTimeLimit(readSecret(id))), readAt };
    } catch (error) {
      if (!known) throw unreadable(error);
      onStale(error);
      known = { keys: known.keys, readAt };
    }
    return known.keys;
  };

  const readUpstreamSecret = async (id: string): Promise<Keys> => {
    if (known && now() - known.readAt < refreshTime) return known.keys;
    reading ??= refresh(id).finally(() => {
      reading = undefined;
    });
    return reading;
  };

  return {
    async upstreamKeys({ prefix, apiKeys }) {
      if (apiKeys.length > 0 || upstreamSecretId === undefined) return apiKeys;
      const keys = (await readUpstreamSecret(upstreamSecretId))[`${prefix}_API_KEYS`];
      return typeof keys === 'string' ? splitList(keys).filter((key) => sendable.test(key)) : [];
    },
    networkSalt() {
      if (networkSalt !== undefined) return Promise.resolve(networkSalt);
      salt ??= withinTimeLimit(readSecret(networkSaltSecretId ?? '')).catch((error) => {
        salt = undefined;
        throw unreadable(error);
      });
      return salt;
    },
  };
}

type Keys = Readonly<Record<string, unknown>>;

/** What a header can carry. */
const sendable = /^[\x21-\x7e]+$/;

async function withinTimeLimit(reading: Promise<string>): Promise<string> {
  const tooSlow = Promise.withResolvers<never>();
  const timer = setTimeout(() => tooSlow.reject(new Error('the secret is read too slowly')), timeLimit);
  return Promise.race([reading, tooSlow.promise]).finally(() => clearTimeout(timer));
}

function unreadable(cause: unknown): GatewayError {
  const message = 'The gateway cannot read its own settings right now. Please try again in a moment.';
  return new GatewayError('service_unavailable', message, { refund: true, cause });
}

/** A JSON object with the names of the settings; anything else is the first upstream's list of keys. */
function parseKeys(text: string): Keys {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return { ...value };
  } catch {
    // A bare list of keys is no JSON.
  }
  return { UPSTREAM_API_KEYS: text };
}
