import { GatewayError } from '../errors.ts';
import { ConfigError, type Environment } from '../settings/read-settings.ts';
import { createMinuteCache, type RefreshDependencies, shareReading, withinTimeLimit } from '../settings/refresh.ts';

/** An AWS service with a JSON protocol. */
export interface Service {
  /** As in host names and signatures. */
  readonly name: string;
  /** The prefix in `x-amz-target`. */
  readonly target: string;
  readonly contentType: string;
  /** The environment variable that overrides the service's endpoint. */
  readonly endpointVariable: string;
}

export const dynamoDbService: Service = {
  name: 'dynamodb',
  target: 'DynamoDB_20120810',
  contentType: 'application/x-amz-json-1.0',
  endpointVariable: 'AWS_ENDPOINT_URL_DYNAMODB',
};

export const secretsManagerService: Service = {
  name: 'secretsmanager',
  target: 'secretsmanager',
  contentType: 'application/x-amz-json-1.1',
  endpointVariable: 'AWS_ENDPOINT_URL_SECRETS_MANAGER',
};

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
}

/** The region and credentials for calls to AWS. */
export interface AwsAccess {
  readonly region: string;
  readonly credentials: () => Promise<Credentials>;
  /** May override the services' endpoints. */
  readonly environment: Environment;
}

/** Reads what Lambda sets for every function. */
export function readAwsAccess(environment: Environment): AwsAccess {
  const faults: string[] = [];
  const required = (name: string): string => {
    if (!environment[name]) faults.push(`${name} is missing: Lambda sets it`);
    return environment[name] ?? '';
  };
  const region = required('AWS_REGION');
  const credentials = {
    accessKeyId: required('AWS_ACCESS_KEY_ID'),
    secretAccessKey: required('AWS_SECRET_ACCESS_KEY'),
    ...(environment.AWS_SESSION_TOKEN && { sessionToken: environment.AWS_SESSION_TOKEN }),
  };
  if (faults.length > 0) throw new ConfigError(faults);
  return { region, credentials: async () => credentials, environment };
}

/** The same from the SDK's default provider chain. */
export async function findAwsAccess(client: AwsClient, environment: Environment): Promise<AwsAccess> {
  const { region, credentials } = client.config;
  return { region: await region(), credentials, environment };
}

interface AwsClient {
  readonly config: { readonly region: () => Promise<string>; readonly credentials: () => Promise<Credentials> };
}

/** A service's endpoint: its own override, the override for all of AWS, or the default. */
export function endpointOf({ name, endpointVariable }: Service, { region, environment }: AwsAccess): URL {
  const variable = environment[endpointVariable] ? endpointVariable : 'AWS_ENDPOINT_URL';
  const address = URL.parse(environment[variable] || `https://${name}.${region}.${domainOf(region)}`);
  if (address && /^https?:$/.test(address.protocol)) return address;
  throw new ConfigError([`${variable} must be an http(s) URL, such as https://host`]);
}

function domainOf(region: string): string {
  if (region.startsWith('cn-')) return 'amazonaws.com.cn';
  if (region.startsWith('eusc-')) return 'amazonaws.eu';
  return 'amazonaws.com';
}

const noAccess = 'The gateway has no access to its own store right now. Please try again in a moment.';

/**
 * Refreshes the credentials from the SDK every minute, in the background. The SDK renews them minutes before they expire; if that
 * fails, the last ones stay in use. A request waits for credentials only at the start and once they have expired, within the time
 * limit of a call.
 */
export function cacheCredentials(
  provide: () => Promise<Credentials>,
  refreshing: Omit<RefreshDependencies, 'onStale'>,
): () => Promise<Credentials> {
  const { now } = refreshing;
  const read = createMinuteCache(() => withinTimeLimit(provide()), { ...refreshing, onStale: () => {} });
  const renew = shareReading(() => withinTimeLimit(provide()), now);
  return async () => {
    try {
      const known = await read();
      return known.expiration && known.expiration.getTime() <= now() ? await renew() : known;
    } catch (cause) {
      throw new GatewayError('service_unavailable', noAccess, { source: 'store', cause });
    }
  };
}
