import './settings/require-node.ts';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { readPageFiles } from './accounts/pages.ts';
import { cacheCredentials, findAwsAccess } from './aws/access.ts';
import { createAws } from './aws/call-service.ts';
import { createLog, flushed, gatherLines } from './report/log.ts';
import { startServer, startWarnings } from './serve.ts';
import { sayBedrockDefaults } from './settings/bedrock.ts';
import { readConfig, readServerConfig } from './settings/config.ts';
import { ConfigError, readBoth } from './settings/read-settings.ts';
import type { RunEvery } from './settings/refresh.ts';
import { createDynamoStore } from './store/dynamodb/store.ts';

/** Milliseconds for the last log lines to be flushed at exit. Whatever is still buffered then is lost. */
const lastLinesTime = 5_000;

/** The whole process: reads the environment, serves until SIGTERM or SIGINT, and exits with 1 after a fault. */
async function run(): Promise<void> {
  // Stdout is broken. Left uncaught, the error would log a line, which would fail and log another one, forever.
  const stdoutBroken = new Promise<void>((resolve) => process.stdout.on('error', () => resolve()));
  const [config, serverConfig] = readBoth(
    () => readConfig(process.env),
    () => readServerConfig(process.env),
  );
  const writeLog = gatherLines(process.stdout);
  const log = createLog({ write: writeLog, now: Date.now, metricsNamespace: config.log.metricsNamespace });
  const found = await findAwsAccess(new DynamoDBClient(), process.env).catch(() => {
    throw new ConfigError(['AWS_REGION is missing: the region of the tables']);
  });
  const runEvery: RunEvery = (task, time) => setInterval(task, time).unref();
  const credentials = cacheCredentials(found.credentials, { now: Date.now, runEvery });
  const access = { ...found, credentials };
  const { callDynamoDb, ...aws } = createAws(access, { now: Date.now, random: Math.random });
  const server = await startServer(config, serverConfig, {
    store: createDynamoStore(callDynamoDb, config.tables, Date.now),
    // Lazy: this loads the AWS SDK, which only the pages need.
    openAdminStore: async () => (await import('./store/admin/store.ts')).createAdminStore(access, config.tables),
    ...aws,
    // The bundle has the page files at the same path.
    pageFiles: readPageFiles(new URL('./accounts/pages/', import.meta.url)),
    writeLog,
    now: Date.now,
    runEvery,
  });

  let exitCode = 0;
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    stopped ??= server.stop(serverConfig.shutdownGrace);
    await stopped;
    await flushed(process.stdout, lastLinesTime);
    process.exit(exitCode);
  };
  const fail = () => {
    exitCode = 1;
    void stop();
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('uncaughtException', (error) => {
    log.fault('uncaught exception', error);
    fail();
  });
  void stdoutBroken.then(fail);
  writeLog(`listening on ${server.url}\n`);
  if (server.metricsUrl !== undefined) writeLog(`metrics at ${server.metricsUrl}/metrics\n`);
  for (const taken of sayBedrockDefaults(config.upstreams.all)) console.error(taken);
  const warnings = startWarnings(process.env, config, serverConfig.servesWallet);
  for (const warning of warnings) console.error(`warning: ${warning}`);
}

run().catch((error: unknown) => {
  const faults = error instanceof ConfigError ? error.faults : [error instanceof Error ? error.message : String(error)];
  for (const fault of faults) console.error(fault);
  process.exit(1);
});
