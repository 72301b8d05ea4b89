import { readServerConfig } from '../lambda/settings/config.ts';
import { serverSettings } from '../lambda/settings/definitions.ts';
import { byDefault, choice, flag, text } from '../lambda/settings/kinds.ts';
import {
  collectFaults,
  type Environment,
  readBoth,
  readNamed,
  readSettings,
} from '../lambda/settings/read-settings.ts';
import { spokenDialects, upstreamSettings } from '../lambda/settings/upstream-definitions.ts';
import { type DemoUpstream, settingsFor } from './demo/demo-upstream.ts';

/** The settings that only the local gateway has. */
const localSettings = {
  /** The HTTP server, or the Function URL's stand-in. */
  ENGINE: byDefault('web', choice(['web', 'function-url'])),
  /** How the log is shown: as lines for people, or as a deployment writes it. By default a terminal gets text. */
  LOG_FORMAT: choice(['text', 'json']),
  /** Whether to start a demo OIDC provider with made-up accounts. */
  DEMO_OIDC: byDefault('false', flag()),
  /** The only dialects that the built-in demo speaks; unset means all. */
  DEMO_DIALECTS: spokenDialects,
};

/** A DynamoDB to use instead of a folder. */
const store = {
  AWS_ENDPOINT_URL_DYNAMODB: text('an http(s) URL, such as http://127.0.0.1:8000', /^https?:\/\/[^/]/),
};

/** Names that no table of the deployed code has. */
export const localNames = Object.keys({ ...localSettings, ...store });

export const defaultPort = Number(serverSettings.PORT.fallback);

export type LocalSettings = ReturnType<typeof readLocalSettings>;

/** Reads the local settings, and reports all faults at once. */
export function readLocalSettings(environment: Environment) {
  const [server, own] = readBoth(
    () => readServerConfig(environment),
    () =>
      collectFaults((faults) => ({
        ...readNamed(localSettings, environment, faults),
        dynamodbEndpoint: readSettings(store, environment, faults).AWS_ENDPOINT_URL_DYNAMODB,
      })),
  );
  const { host, port } = server;
  return { host, port, server, ...own };
}

/** Whether a real upstream is configured, instead of the demo. */
export const hasUpstream = ({ UPSTREAM_BASE_URL, UPSTREAM_AUTH }: Environment): boolean =>
  Boolean(UPSTREAM_BASE_URL?.trim()) || UPSTREAM_AUTH?.trim() === 'aws';

/** Changes to an environment; undefined removes a variable. */
type Changes = Readonly<Record<string, string | undefined>>;

/** On AWS the salt is a secret. Here a fixed one will do, as callers are usually on this machine. */
export const defaultSalt = 'the-salt-of-a-local-gateway';

/** The variables that are set and select DynamoDB instead of a folder. */
export const tableNamesIn = (environment: Environment): string[] =>
  ['KEYS_TABLE', 'QUOTA_TABLE', 'AWS_ENDPOINT_URL_DYNAMODB'].filter((name) => environment[name]?.trim());

/** Defaults for what the stack would set for a deployed function: names, a salt, the demo upstream, the time to stop in. */
export function gatewayVariables(environment: Environment, demo: Omit<DemoUpstream, 'close'> | undefined): Changes {
  const withFallback = (name: string, fallback: string) => ({ [name]: environment[name]?.trim() || fallback });
  return {
    ...(tableNamesIn(environment).length > 0 && {
      DATA_DIR: undefined,
      ...withFallback('KEYS_TABLE', 'gateway-keys'),
      ...withFallback('QUOTA_TABLE', 'gateway-quota'),
    }),
    ...withFallback('NETWORK_SALT', defaultSalt),
    // Long enough for most answers. A person waits at the terminal, and no platform kills the process.
    ...withFallback('SHUTDOWN_GRACE', '10'),
    ...(demo && {
      ...Object.fromEntries(Object.keys(upstreamSettings).map((name) => [`UPSTREAM_${name}`, undefined])),
      ...settingsFor(demo),
      // If unset, only the two models that every gateway has are offered.
      UPSTREAM_EMBEDDINGS_MODEL: environment.UPSTREAM_EMBEDDINGS_MODEL?.trim() ? demo.embeddingsModel : undefined,
      UPSTREAM_SECRET_ID: undefined,
      START_CHECK: 'false',
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
const anyCredentials = { AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' };

/** Dummy credentials and region for emulators. For AWS itself, even if only Bedrock needs it, credentials are left alone. */
export function awsVariables(environment: Environment, usesTables: boolean): Changes {
  const isSet = (name: string) => Boolean(environment[name]?.trim());
  const region = { AWS_REGION: environment.AWS_REGION || environment.AWS_DEFAULT_REGION || 'us-east-1' };
  if (Object.keys(environment).some((name) => usesCredentials(name, environment))) return region;
  const endpoints = [
    ...(usesTables ? [environment.AWS_ENDPOINT_URL_DYNAMODB ?? ''] : []),
    ...(secretSettings.some(isSet) ? [environment.AWS_ENDPOINT_URL_SECRETS_MANAGER ?? ''] : []),
  ];
  // AWS itself never uses plain HTTP.
  const emulated = endpoints.length > 0 && endpoints.every((url) => url.startsWith('http:'));
  if (!emulated || isSet('AWS_PROFILE')) return {};
  return { ...region, ...(credentialSources.some(isSet) ? {} : anyCredentials) };
}

const usesCredentials = (name: string, environment: Environment): boolean =>
  /^UPSTREAM_(\d+_)?AUTH$/.test(name) && environment[name]?.trim() === 'aws';

/** Must run before the function is imported, because that reads the environment. */
export function changeEnvironment(changes: Changes): void {
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}

/** The address at which clients on this machine connect. */
export const reachableUrl = (host: string, port: number): string => `http://${reachable(host)}:${port}`;

function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
