import type { Environment } from '../lambda/settings/read-settings.ts';
import { upstreamSettings } from '../lambda/settings/settings.ts';
import { type DemoUpstream, settingsFor } from './demo/demo-upstream.ts';

/** Changes to an environment; undefined removes a variable. */
type Changes = Readonly<Record<string, string | undefined>>;

/** On AWS the salt is a secret. Here all callers are usually on this machine. */
export const defaultSalt = 'the-salt-of-a-local-gateway';

/** Settings that the stack would make for a deployed function, unless set already: names, a salt, the demo upstream. */
export function gatewayVariables(environment: Environment, demo: Omit<DemoUpstream, 'close'> | undefined): Changes {
  const withFallback = (name: string, fallback: string) => ({ [name]: environment[name]?.trim() || fallback });
  return {
    ...withFallback('KEYS_TABLE', 'gateway-keys'),
    ...withFallback('QUOTA_TABLE', 'gateway-quota'),
    ...withFallback('NETWORK_SALT', defaultSalt),
    ...(demo && {
      ...Object.fromEntries(Object.keys(upstreamSettings).map((name) => [`UPSTREAM_${name}`, undefined])),
      ...settingsFor(demo),
      UPSTREAM_SECRET_ID: undefined,
      UPSTREAM_NAMES: [...demo.names, environment.UPSTREAM_NAMES ?? ''].join(','),
    }),
  };
}

const secretSettings = ['UPSTREAM_SECRET_ID', 'NETWORK_SALT_SECRET_ID', 'EDGE_SECRET_ID'];
const credentialSources = [
  'AWS_ACCESS_KEY_ID',
  'AWS_PROFILE',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
];
const noCredentials = Object.fromEntries([...credentialSources, 'AWS_SESSION_TOKEN'].map((name) => [name, undefined]));
const anyCredentials = { AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' };

/**
 * The address of the tables, and credentials for them. The embedded store accepts any, so it does not get the operator's own;
 * for a real store, or AWS, they stay as they are.
 */
export function awsVariables(environment: Environment, endpoint: string, embedded: boolean): Changes {
  const isSet = (name: string) => Boolean(environment[name]?.trim());
  const region = { AWS_REGION: environment.AWS_REGION || environment.AWS_DEFAULT_REGION || 'us-east-1' };
  const changes = { AWS_ENDPOINT_URL_DYNAMODB: endpoint };
  const needsSecrets = secretSettings.some(isSet);
  if (embedded && !needsSecrets) return { ...changes, ...region, ...noCredentials, ...anyCredentials };
  // AWS itself is never plain http.
  const endpoints = [endpoint, ...(needsSecrets ? [environment.AWS_ENDPOINT_URL_SECRETS_MANAGER ?? ''] : [])];
  const emulated = endpoints.every((url) => url.startsWith('http:'));
  if (!emulated || isSet('AWS_PROFILE')) return changes;
  return { ...changes, ...region, ...(credentialSources.some(isSet) ? {} : anyCredentials) };
}

/** Changes the process's environment, which the function reads when it is imported. */
export function changeEnvironment(changes: Changes): void {
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}
