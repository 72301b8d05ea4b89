import { createHmac, hash } from 'node:crypto';
import { shareReading } from '../settings/refresh.ts';
import type { ReadToken } from '../settings/secrets.ts';
import type { AwsAccess, Credentials } from './access.ts';
import { createDeriveKey, createTimestamps, encode } from './sign.ts';

/** In seconds: the longest lifetime that AWS allows, and the lifetime with credentials that don't expire. */
const [longestLife, usualLife] = [43_200, 3_600];

interface Token {
  readonly text: string;
  /** In milliseconds since the epoch. */
  readonly renewAt: number;
  readonly endsAt: number;
}

/**
 * Makes short-term API keys for Amazon Bedrock from AWS credentials, without any call, and caches one per region. A token is
 * renewed after half of its lifetime; if that fails, it stays in use until it expires. AWS's own generator makes the same tokens,
 * but adds 400 KB of code.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html
 */
export function createReadToken(credentials: AwsAccess['credentials'], now: () => number): ReadToken {
  const regions = new Map<string, (refused?: string) => Promise<string>>();

  const createRegion = (region: string) => {
    const presign = createPresign(region);
    let latest: Token | undefined;
    const make = shareReading(async () => {
      const known = await credentials();
      const time = now();
      const life = lifeOf(known, time);
      latest = { text: presign(known, time, life), renewAt: time + life * 500, endsAt: time + life * 1000 };
      return latest.text;
    }, now);
    return async (refused?: string) => {
      const usable = latest?.text === refused ? undefined : latest;
      if (usable && now() < usable.renewAt) return usable.text;
      return make().catch((error) => {
        if (usable && now() < usable.endsAt) return usable.text;
        throw error;
      });
    };
  };

  return (region, refused) => {
    const read = regions.get(region) ?? createRegion(region);
    regions.set(region, read);
    return read(refused);
  };
}

/** The lifetime of a token in whole seconds. It ends with the credentials, if they expire. */
function lifeOf({ expiration }: Credentials, time: number): number {
  if (expiration === undefined) return usualLife;
  const left = Math.floor((expiration.getTime() - time) / 1000);
  if (left <= 0) throw new Error('the AWS credentials have expired');
  return Math.min(left, longestLife);
}

const [host, service] = ['bedrock.amazonaws.com', 'bedrock'];

/**
 * A token is a presigned URL of a request that its bearer may make.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
function createPresign(region: string) {
  const deriveKey = createDeriveKey(region, service);
  const timestampOf = createTimestamps();

  return (credentials: Credentials, time: number, life: number): string => {
    const { date, day } = timestampOf(time);
    const { accessKeyId, sessionToken } = credentials;
    const scope = `${day}/${region}/${service}/aws4_request`;
    const parameters = [
      'Action=CallWithBearerToken',
      'X-Amz-Algorithm=AWS4-HMAC-SHA256',
      `X-Amz-Credential=${encode(`${accessKeyId}/${scope}`)}`,
      `X-Amz-Date=${date}`,
      `X-Amz-Expires=${life}`,
      ...(sessionToken === undefined ? [] : [`X-Amz-Security-Token=${encode(sessionToken)}`]),
    ];
    const signedHeaders = 'X-Amz-SignedHeaders=host';
    const query = [...parameters, signedHeaders].join('&');
    const request = `POST\n/\n${query}\nhost:${host}\n\nhost\n${hash('sha256', '')}`;
    const text = `AWS4-HMAC-SHA256\n${date}\n${scope}\n${hash('sha256', request)}`;
    const signature = createHmac('sha256', deriveKey(credentials, day)).update(text).digest('hex');
    const signed = [...parameters, `X-Amz-Signature=${signature}`, signedHeaders, 'Version=1'];
    return `bedrock-api-key-${Buffer.from(`${host}/?${signed.join('&')}`).toString('base64')}`;
  };
}
