import { createHmac, hash, type KeyObject } from 'node:crypto';
import { keyOf, subkeyOf } from '../settings/secrets.ts';
import type { Credentials, Service } from './access.ts';

/** An attempt to be signed. */
interface Signable {
  readonly operation: string;
  readonly body: string;
  /** By the service's clock, in milliseconds. */
  readonly time: number;
  /** The value of `Amz-Sdk-Request`. */
  readonly attempt: string;
}

/** Returns all headers, including the signature, as a flat list of names and values. */
type Sign = (attempt: Signable, credentials: Credentials) => string[];

/**
 * AWS Signature Version 4, only for a POST of JSON. Computes what all calls share once, and the signing key once a day: a
 * general-purpose library takes five times as long.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
export function createSign({ name, target, contentType }: Service, region: string, endpoint: URL): Sign {
  const { host, pathname } = endpoint;
  const deriveKey = createDeriveKey(region, name);
  const timestampOf = createTimestamps();
  // Encoded a second time, as every service except S3 expects.
  const path = pathname.split(/\/+/).map(encode).join('/');

  return ({ operation, body, time, attempt }, credentials) => {
    const { date, day } = timestampOf(time);
    const { accessKeyId, sessionToken } = credentials;
    // Sorted, as the signature requires.
    const headers = ['amz-sdk-request', attempt, 'content-type', contentType, 'host', host, 'x-amz-date', date];
    if (sessionToken !== undefined) headers.push('x-amz-security-token', sessionToken);
    headers.push('x-amz-target', `${target}.${operation}`);
    let [names, lines] = ['', ''];
    for (let at = 0; at < headers.length; at += 2) {
      names += at === 0 ? headers[at] : `;${headers[at]}`;
      lines += `${headers[at]}:${headers[at + 1]}\n`;
    }
    const request = `POST\n${path}\n\n${lines}\n${names}\n${hash('sha256', body)}`;
    const scope = `${day}/${region}/${name}/aws4_request`;
    const text = `AWS4-HMAC-SHA256\n${date}\n${scope}\n${hash('sha256', request)}`;
    const signature = createHmac('sha256', deriveKey(credentials, day)).update(text).digest('hex');
    const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
    headers.push('Authorization', authorization);
    return headers;
  };
}

/** Formats times as signatures need them: 20150830T123600Z, and the day alone. Caches the latest second. */
export function createTimestamps() {
  let latest = { second: Number.NaN, date: '', day: '' };
  return (time: number) => {
    const second = Math.floor(time / 1000);
    if (second !== latest.second) {
      const date = new Date(time).toISOString().replace(/[-:]|\.\d+/g, '');
      latest = { second, date, day: date.slice(0, 8) };
    }
    return latest;
  };
}

/** Derives the signing key of a day, and caches the latest. */
export function createDeriveKey(region: string, service: string) {
  let latest: { readonly secret: string; readonly day: string; readonly key: KeyObject } | undefined;
  return ({ secretAccessKey: secret }: Credentials, day: string): KeyObject => {
    if (latest?.secret === secret && latest.day === day) return latest.key;
    const parts = [day, region, service, 'aws4_request'];
    latest = { secret, day, key: parts.reduce(subkeyOf, keyOf(`AWS4${secret}`)) };
    return latest.key;
  };
}

/** Encodes as signatures need it, which is stricter than encodeURIComponent. */
export function encode(part: string): string {
  return encodeURIComponent(part).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}
