import { createHmac } from 'node:crypto';
import { GatewayError } from '../http/errors.ts';
import type { Access, Upstream } from './config.ts';
import { splitList } from './setting.ts';
import { headerMap } from './settings.ts';

/** Reads the text of a secret by its name or ARN: the current one, or the one before it, which is empty where there was none. */
export type ReadSecret = (id: string, how?: Reading) => Promise<string>;

interface Reading {
  readonly version?: 'previous';
  /** Ends the reading before it is done. */
  readonly signal?: AbortSignal;
}

interface Dependencies {
  readonly readSecret: ReadSecret;
  readonly now: () => number;
  /** Told when a refresh failed and the last known values stay in use. */
  readonly onStale: (error: unknown) => void;
  /** Does something again and again, at such a distance; where it is there, no request waits for a refresh. */
  readonly repeat?: Repeat | undefined;
}

export type Repeat = (task: () => void, time: number) => void;

interface Settings {
  readonly upstreamSecretId: string | undefined;
  readonly networkSalt: string | undefined;
  readonly networkSaltSecretId: string | undefined;
  readonly edgeSecretId: string | undefined;
}

export interface Secrets {
  /** How an upstream is entered. */
  upstreamAccess(upstream: Upstream): Promise<Access>;
  networkSalt(): Promise<string>;
  /** A key made of the salt for one purpose, so that what is hashed for one tells nothing of what is hashed for another. */
  subkey(label: string): Promise<Buffer>;
  /** What a CDN in front may prove itself with: while its secret is being replaced, the one before as well. */
  edgeSecrets(): Promise<readonly string[]>;
}

/** A rotated secret is in use everywhere within a minute. */
const refreshTime = 60_000;
/** A reader that does not answer must not hold a request up for longer than the tables may. */
const timeLimit = 2_000;
const shortestSalt = 16;

export function createSecrets(settings: Settings, { readSecret, now, onStale, repeat }: Dependencies): Secrets {
  const { upstreamSecretId, networkSalt, networkSaltSecretId, edgeSecretId } = settings;
  let salt: string | undefined;

  /**
   * Who asks meanwhile shares a reading. One that has outlived its limit was frozen together with its environment, which
   * may happen right after a start: nobody joins that.
   */
  const shared = <T>(read: () => Promise<T>): (() => Promise<T>) => {
    let current: { readonly reading: Promise<T>; readonly startedAt: number } | undefined;
    return () => {
      if (current && now() - current.startedAt < timeLimit) return current.reading;
      const reading = read().finally(() => {
        if (current?.reading === reading) current = undefined;
      });
      current = { reading, startedAt: now() };
      return reading;
    };
  };

  /** Reads once a minute at most, or by itself. What was known stays in use where a later reading fails. */
  const refreshed = <T>(read: (signal: AbortSignal) => Promise<T>): (() => Promise<T>) => {
    let known: { readonly value: T; readonly readAt: number } | undefined;
    let repeated = false;
    const refresh = shared(async (): Promise<T> => {
      const readAt = now();
      try {
        known = { value: await withinTimeLimit(read), readAt };
      } catch (error) {
        if (!known) throw unreadable(error);
        onStale(error);
        known = { value: known.value, readAt };
      }
      return known.value;
    });
    return async () => {
      if (repeat && !repeated) {
        repeated = true;
        repeat(() => refresh().catch(() => {}), refreshTime);
      }
      return known && (repeat || now() - known.readAt < refreshTime) ? known.value : refresh();
    };
  };

  const readUpstreamSecret = refreshed(async (signal) =>
    parseKeys(await readSecret(upstreamSecretId ?? '', { signal })),
  );
  const readEdgeSecrets = refreshed(async (signal) => {
    const id = edgeSecretId ?? '';
    const versions = await Promise.all([readSecret(id, { signal }), readSecret(id, { version: 'previous', signal })]);
    return versions.map((text) => text.trim()).filter((text) => text !== '');
  });

  const readSalt = shared(async (): Promise<string> => {
    const text = await withinTimeLimit((signal) => readSecret(networkSaltSecretId ?? '', { signal })).catch((error) => {
      throw unreadable(error);
    });
    // Short of a secret, hashes of addresses can be turned back.
    if (text.length < shortestSalt) throw unreadable(new Error('the salt is too short'));
    salt = text;
    return text;
  });

  const readNetworkSalt = async () => networkSalt ?? salt ?? readSalt();

  return {
    async upstreamAccess({ prefix, apiKeys, headers }) {
      if (apiKeys.length > 0 || upstreamSecretId === undefined) return { keys: apiKeys, headers, secretHeaders: {} };
      const secret = await readUpstreamSecret();
      const keys = secret[`${prefix}_API_KEYS`];
      return {
        keys: typeof keys === 'string' ? splitList(keys).filter((key) => sendable.test(key)) : [],
        headers,
        secretHeaders: readHeaders(secret[`${prefix}_HEADERS`]),
      };
    },
    networkSalt: readNetworkSalt,
    subkey: async (label) => subkeyOf(await readNetworkSalt(), label),
    edgeSecrets: readEdgeSecrets,
  };
}

export const subkeyOf = (salt: string, label: string): Buffer => createHmac('sha256', salt).update(label).digest();

type Keys = Readonly<Record<string, unknown>>;

/** What a header can carry. */
const sendable = /^[\x21-\x7e]+$/;

/** An object, or its text as a variable would hold it; without them, requests would end up who knows where. */
function readHeaders(value: unknown): Readonly<Record<string, string>> {
  if (value === undefined) return {};
  const headers = headerMap.parse(typeof value === 'string' ? value : JSON.stringify(value));
  if (headers) return headers;
  throw unreadable(new Error('the headers in the secret are no JSON object of names and texts'));
}

async function withinTimeLimit<T>(read: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const tooSlow = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    tooSlow.reject(new Error('the secret is read too slowly'));
    controller.abort();
  }, timeLimit);
  return Promise.race([read(controller.signal), tooSlow.promise]).finally(() => clearTimeout(timer));
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
