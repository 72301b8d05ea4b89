import { randomBytes } from 'node:crypto';
import { readPageFiles } from '../lambda/accounts/pages.ts';
import { createLog, type WriteLog } from '../lambda/report/log.ts';
import { createGatewayWithAccounts, createRefuseFor, startServer } from '../lambda/serve.ts';
import { type OpenedStore, openStore } from '../lambda/server-store.ts';
import { sayBedrockDefaults } from '../lambda/settings/bedrock.ts';
import { type Config, readConfig } from '../lambda/settings/config.ts';
import { ConfigError, readBoth } from '../lambda/settings/read-settings.ts';
import type { RunEvery } from '../lambda/settings/refresh.ts';
import type { ReadToken } from '../lambda/settings/secrets.ts';
import { readStorePlace } from '../lambda/settings/store-place.ts';
import { spokenDialects } from '../lambda/settings/upstream-definitions.ts';
import { issueFirstKey, keepFirstKey } from '../lambda/store/first-key.ts';
import { checkUpstreams } from '../lambda/upstream/start-check.ts';
import { makePages } from '../lib/reference/render-reference.ts';
import { type DemoUpstream, startDemoUpstream } from './demo/demo-upstream.ts';
import { findWarnings } from './find-warnings.ts';
import { createFunction, startFunctionUrl } from './function-url.ts';
import { factsOf, gatewayFileDirectory, removeGatewayFile, writeGatewayFile } from './gateway-file.ts';
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
import { makeTemporaryFolder } from './temporary-folder.ts';
import { createTerminalLog } from './terminal-log.ts';

export type LocalGateway = Awaited<ReturnType<typeof startGateway>>;

/**
 * Starts the whole gateway on this machine: an upstream, a store, and the app behind either engine.
 * Sets environment variables that these and the SDK read, so it works only once per process.
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

  const place = readStorePlace(process.env) ?? { dataDir: started.use(makeTemporaryFolder()).path, tables: undefined };
  changeEnvironment(awsVariables(process.env, place.tables !== undefined));
  // Lazy: this loads the AWS SDK, which a folder doesn't need.
  if (place.tables) await (await import('./tables.ts')).prepareTables(place.tables);
  const runEvery: RunEvery = (task, time) => setInterval(task, time).unref();
  const opened = await openStore(place, config, {
    environment: process.env,
    now: Date.now,
    random: Math.random,
    runEvery,
  });
  started.defer(opened.close);
  await requireCredentials(config, opened.readToken);

  const { logFormat = process.stdout.isTTY ? 'text' : 'json' } = settings;
  const writeLog: WriteLog =
    logFormat === 'text' ? createTerminalLog(process.stdout) : (line) => process.stdout.write(line);
  const { url, port, metricsUrl, longestStop, close } = await startEngine(config, settings, {
    ...opened,
    writeLog,
    runEvery,
  });
  started.defer(close);

  // Not before the port is ours, or a failed start would issue a key that is never shown.
  const firstKey = await issueFirstKey((await opened.openAdminStore()).keys, { now: Date.now, randomBytes });
  const { pid } = process;
  writeGatewayFile({
    ...factsOf(config, reachableUrl(settings.host, port)),
    ...place,
    ...{ pid, port, networkSalt: config.secrets.networkSalt ?? '', dynamodbEndpoint: settings.dynamodbEndpoint },
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
    metricsUrl,
    /** Milliseconds that running requests get at shutdown. */
    longestStop,
    /** The upstreams' hosts in their order; undefined for the built-in demo. */
    upstreamHosts: demo ? undefined : config.upstreams.all.map(({ addresses }) => new URL(addresses.chat).host),
    /** Where keys and counters are stored. */
    place,
    /** The key that this start issued, as a shell word. Undefined if there were keys before. */
    firstKey: firstKey && tellKey(firstKey, place.dataDir ?? gatewayFileDirectory()),
    /** Describes the defaults at Bedrock. */
    taken: sayBedrockDefaults(config.upstreams.all),
    warnings: [...opened.warnings, ...findWarnings(given, settings.host, config)],
    /** Accepts no more requests, gives running ones `longestStop` to end, then stops everything. */
    stop: () => running.disposeAsync(),
  };
}

/** Reports missing or expired AWS credentials at the start, rather than in the first request. */
async function requireCredentials({ upstreams }: Config, readToken: ReadToken): Promise<void> {
  for (const { prefix, tokenRegion } of upstreams.all) {
    if (tokenRegion === undefined) continue;
    await readToken(tokenRegion).catch((error) => {
      throw new ConfigError([
        `${prefix}_AUTH aws finds no AWS credentials (${Error.isError(error) ? error.message : String(error)}): ` +
          'sign in (aws sso login), then eval "$(aws configure export-credentials --format env)"',
      ]);
    });
  }
}

/** Shows the key at a terminal only: other output may end up in a log. */
function tellKey(key: string, folder: string): string {
  return process.stdout.isTTY ? key : `"$(cat '${keepFirstKey(key, folder)}')"`;
}

/** Faults in its settings are reported with all others. */
function startDemo(): Promise<DemoUpstream> {
  const dialects = spokenDialects.parse(process.env.DEMO_DIALECTS ?? '');
  return startDemoUpstream({ dialects });
}

/** Starts a demo OIDC provider, and configures the gateway to use it. Returns a function that stops it. */
async function startCompany({ host, port }: LocalSettings): Promise<() => Promise<void>> {
  if (port === 0) throw new ConfigError(['DEMO_OIDC needs a PORT other than 0, for people to be sent back to']);
  // Lazy: the package is a dev dependency.
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
 * Serves the app either behind a fake Function URL or by the HTTP server. Once closed, it accepts no more requests, gives running ones
 * `longestStop` to end, then ends them with an error.
 */
async function startEngine(
  config: Config,
  settings: LocalSettings,
  opened: OpenedStore & { readonly writeLog: WriteLog; readonly runEvery: RunEvery },
) {
  const { host, port, engine, server: serverConfig } = settings;
  const { shutdownGrace: graceMs, shutdownDrain } = serverConfig;
  const { runEvery, ...rest } = opened;
  const world = {
    ...rest,
    now: Date.now,
    onOwnMachine: true,
    pageFiles: readPageFiles(new URL('../lambda/accounts/pages/', import.meta.url), await makePages()),
  };
  if (engine === 'web') {
    const { stop, ...server } = await startServer(config, serverConfig, { ...world, runEvery });
    return { ...server, longestStop: shutdownDrain + graceMs, close: () => stop(graceMs, shutdownDrain) };
  }
  installAwslambda();
  const handler = createFunction(
    await createGatewayWithAccounts(config, {
      ...world,
      scheme: 'http',
      log: createLog({ write: world.writeLog, now: Date.now, metricsNamespace: config.log.metricsNamespace }),
      checkUpstreams: serverConfig.startCheck ? checkUpstreams : undefined,
    }),
  );
  const { close, ...server } = await startFunctionUrl({
    handler,
    host,
    port,
    bodyLimit: config.request.requestBodyLimit,
    refuse: createRefuseFor(config, Date.now),
  });
  return { ...server, metricsUrl: undefined, longestStop: graceMs, close: () => close(graceMs) };
}
