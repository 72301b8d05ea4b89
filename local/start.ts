import { randomBytes } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { readPageFiles } from '../lambda/accounts/pages.ts';
import { issueKey } from '../lambda/identity/issued-keys.ts';
import type { WriteLog } from '../lambda/report/log.ts';
import { createGatewayWithAccounts, createRefuseFor, startServer } from '../lambda/serve.ts';
import { sayBedrockDefaults } from '../lambda/settings/bedrock.ts';
import { type Config, readConfig } from '../lambda/settings/config.ts';
import { ConfigError, readBoth } from '../lambda/settings/read-settings.ts';
import type { RunEvery } from '../lambda/settings/refresh.ts';
import type { ReadToken } from '../lambda/settings/secrets.ts';
import { spokenDialects } from '../lambda/settings/upstream-definitions.ts';
import { createAdminStore } from '../lambda/store/admin/store.ts';
import { createDynamoStore } from '../lambda/store/dynamodb/store.ts';
import type { KeyStore } from '../lambda/store/store.ts';
import { makePages } from '../lib/reference/render-reference.ts';
import { type DemoUpstream, startDemoUpstream } from './demo/demo-upstream.ts';
import { createGatewayTables, startDynamoDb } from './dynamodb.ts';
import { findAws } from './find-aws.ts';
import { findWarnings } from './find-warnings.ts';
import { createFunction, startFunctionUrl } from './function-url.ts';
import { factsOf, removeGatewayFile, writeGatewayFile } from './gateway-file.ts';
import {
  awsVariables,
  changeEnvironment,
  gatewayVariables,
  hasUpstream,
  type LocalSettings,
  reachableUrl,
  readLocalSettings,
} from './local-settings.ts';
import { installAwslambda } from './response-stream.ts';
import { createTerminalLog } from './terminal-log.ts';

export type LocalGateway = Awaited<ReturnType<typeof startGateway>>;

/**
 * Starts the whole gateway on this machine: an upstream, tables, and the app behind one engine or the other.
 * They and the SDK read the process's environment, so this completes it, and works only once in a process.
 */
export async function startGateway() {
  await using started = new AsyncDisposableStack();

  const given = { ...process.env };
  const demo = hasUpstream(process.env) ? undefined : await startDemo();
  if (demo) started.defer(demo.close);
  changeEnvironment(gatewayVariables(process.env, demo));
  if (process.env.DEMO_OIDC?.trim() === 'true') started.defer(await startCompany(readLocalSettings(process.env)));
  const [settings, config] = readBoth(
    () => readLocalSettings(process.env),
    () => readConfig(process.env),
  );

  const embedded = settings.dynamodbEndpoint === undefined ? await startDynamoDb(settings) : undefined;
  if (embedded) started.defer(embedded.close);
  const dynamodbEndpoint = embedded?.endpoint ?? settings.dynamodbEndpoint ?? '';
  changeEnvironment(awsVariables(process.env, dynamodbEndpoint, embedded !== undefined));
  const client = new DynamoDBClient();
  started.defer(async () => client.destroy());
  const aws = await findAws(client);
  await requireCredentials(config, aws.readToken);
  await createGatewayTables(client, config.tables).catch((error) => {
    const store = embedded ? 'the embedded DynamoDB' : `AWS_ENDPOINT_URL_DYNAMODB ${dynamodbEndpoint}`;
    throw new ConfigError([`${store} can't be used: ${messageOf(error)}`]);
  });

  const { logFormat = process.stdout.isTTY ? 'text' : 'json' } = settings;
  const writeLog: WriteLog =
    logFormat === 'text' ? createTerminalLog(process.stdout) : (line) => process.stdout.write(line);
  const { url, port, graceMs, close } = await startEngine(config, settings, aws, writeLog);
  started.defer(close);

  // Only once the port is ours: otherwise the key would be issued and never shown.
  const memberKey = await issueFirstKey(createAdminStore(aws.access, config.tables).keys);
  const { pid } = process;
  const { dataDir } = settings;
  writeGatewayFile({
    ...factsOf(config, reachableUrl(settings.host, port)),
    pid,
    port,
    dynamodbEndpoint,
    networkSalt: config.secrets.networkSalt ?? '',
    embedded: embedded !== undefined,
    ...(dataDir && { dataDir }),
  });
  const removeFile = () => removeGatewayFile(port, pid);
  process.once('exit', removeFile);
  started.defer(removeFile);

  const running = started.move();
  return {
    settings,
    config,
    url,
    port,
    graceMs,
    /** The hosts that answer, in their order, or undefined for the built-in demo. */
    upstreamHosts: demo ? undefined : config.upstreams.all.map(({ addresses }) => new URL(addresses.chat).host),
    /** The key that this start issued; undefined if the store held some already. */
    memberKey,
    /** Describes the defaults at Bedrock. */
    taken: sayBedrockDefaults(config.upstreams.all),
    warnings: [...(embedded?.warnings ?? []), ...findWarnings(given, settings.host, config)],
    /** Accepts no more requests, allows the running ones `graceMs` to end, then stops everything. */
    stop: () => running.disposeAsync(),
  };
}

/** Reports missing or expired AWS credentials at the start, rather than in the first request. */
async function requireCredentials({ upstreams }: Config, readToken: ReadToken): Promise<void> {
  for (const { prefix, tokenRegion } of upstreams.all) {
    if (tokenRegion === undefined) continue;
    await readToken(tokenRegion).catch((error) => {
      throw new ConfigError([
        `${prefix}_AUTH aws finds no AWS credentials (${messageOf(error)}): ` +
          'sign in (aws sso login), then eval "$(aws configure export-credentials --format env)"',
      ]);
    });
  }
}

/** What is wrong with its settings is told with all other faults. */
function startDemo(): Promise<DemoUpstream> {
  const dialects = spokenDialects.parse(process.env.DEMO_DIALECTS ?? '');
  return startDemoUpstream({ dialects });
}

/** Starts a provider at which made-up people sign in, and has the gateway use it. Gives what stops it. */
async function startCompany({ host, port }: LocalSettings): Promise<() => Promise<void>> {
  if (port === 0) throw new ConfigError(['DEMO_OIDC needs a PORT other than 0, for people to be sent back to']);
  // Its package is for development only.
  const { startIdentityProvider } = await import('./demo/identity-provider.ts');
  const appUrl = reachableUrl(host, port);
  const { issuer, clientId, clientSecret, close } = await startIdentityProvider({
    callbackUrl: `${appUrl}/cli/oidc/callback`,
  });
  changeEnvironment({
    APP_URL: appUrl,
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: clientId,
    OIDC_CLIENT_SECRET: clientSecret,
    OIDC_CLIENT_SECRET_ID: undefined,
    OIDC_ALLOWED_DOMAINS: 'example.com',
    OIDC_ALLOWED_GROUPS: undefined,
  });
  return close;
}

/**
 * Serves the same app either way: behind a stand-in for the Function URL, or by the HTTP server. Closing it accepts no more requests,
 * allows the running ones `graceMs` to end, then ends them with an error.
 */
async function startEngine(
  config: Config,
  settings: LocalSettings,
  aws: Awaited<ReturnType<typeof findAws>>,
  writeLog: WriteLog,
) {
  const { host, port, engine, server: serverConfig } = settings;
  const graceMs = serverConfig.shutdownGrace;
  const { access, callDynamoDb, readSecret, readToken } = aws;
  const world = {
    store: createDynamoStore(callDynamoDb, config.tables, Date.now),
    openAdminStore: async () => createAdminStore(access, config.tables),
    readSecret,
    readToken,
    writeLog,
    now: Date.now,
    onOwnMachine: true,
    pageFiles: readPageFiles(new URL('../lambda/accounts/pages/', import.meta.url), await makePages()),
  };
  if (engine === 'web') {
    const runEvery: RunEvery = (task, time) => setInterval(task, time).unref();
    const { stop, ...server } = await startServer(config, serverConfig, { ...world, runEvery });
    return { ...server, graceMs, close: () => stop(graceMs) };
  }
  installAwslambda();
  const handler = createFunction(
    await createGatewayWithAccounts(config, { ...world, scheme: 'http', checksUpstreams: serverConfig.startCheck }),
  );
  const { close, ...server } = await startFunctionUrl({
    handler,
    host,
    port,
    bodyLimit: config.request.requestBodyLimit,
    refuse: createRefuseFor(config, Date.now),
  });
  return { ...server, graceMs, close: () => close(graceMs) };
}

async function issueFirstKey(store: KeyStore): Promise<string | undefined> {
  if (await store.anyKeyIssued()) return undefined;
  const request = { member: 'local', label: 'issued at the first start' };
  return (await issueKey(store, request, { now: Date.now, randomBytes })).key;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
