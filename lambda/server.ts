import './settings/require-node.ts';
import { randomBytes } from 'node:crypto';
import { readPageFiles } from './accounts/pages.ts';
import { flushed, gatherLines } from './report/log.ts';
import { startServer, startWarnings } from './serve.ts';
import { type OpenedStore, openStore } from './server-store.ts';
import { sayBedrockDefaults } from './settings/bedrock.ts';
import { readConfig, readServerConfig } from './settings/config.ts';
import { ConfigError, readBoth } from './settings/read-settings.ts';
import type { RunEvery } from './settings/refresh.ts';
import { requireStorePlace } from './settings/store-place.ts';
import { issueFirstKey, keepFirstKey } from './store/first-key.ts';

/** Milliseconds for the last log lines to be flushed at exit. Whatever is still buffered then is lost. */
const lastLinesTime = 5_000;

/** The whole process: reads the environment, serves until SIGTERM or SIGINT, and exits with 1 after a fault. */
async function run(): Promise<void> {
  // Stdout is broken. Left uncaught, the error would log a line, which would fail and log another one, forever.
  const stdoutBroken = new Promise<void>((resolve) => process.stdout.on('error', () => resolve()));
  const [config, [serverConfig, place]] = readBoth(
    () => readConfig(process.env),
    () =>
      readBoth(
        () => readServerConfig(process.env),
        () => requireStorePlace(process.env),
      ),
  );
  const writeLog = gatherLines(process.stdout);
  const runEvery: RunEvery = (task, time) => setInterval(task, time).unref();
  const opened = await openStore(place, config, {
    environment: process.env,
    now: Date.now,
    random: Math.random,
    runEvery,
  });
  const server = await startServer(config, serverConfig, {
    ...opened,
    // The bundle has the page files at the same path.
    pageFiles: readPageFiles(new URL('./accounts/pages/', import.meta.url)),
    writeLog,
    now: Date.now,
    runEvery,
  });

  let exitCode = 0;
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    stopped ??= server.stop(serverConfig.shutdownGrace, serverConfig.shutdownDrain);
    await stopped;
    await opened.close();
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
    server.log.fault('uncaught exception', error);
    fail();
  });
  void stdoutBroken.then(fail);
  writeLog(`listening on ${server.url}\n`);
  if (server.metricsUrl !== undefined) writeLog(`metrics at ${server.metricsUrl}/metrics\n`);
  for (const taken of sayBedrockDefaults(config.upstreams.all)) console.error(taken);
  if (place.dataDir !== undefined) writeLog(await tellFirstKey(opened, place.dataDir));
  const warnings = [...opened.warnings, ...startWarnings(process.env, config, serverConfig.servesWallet)];
  for (const warning of warnings) console.error(`warning: ${warning}`);
}

/** What the first start in a folder says of the key that it has issued; nothing later. */
async function tellFirstKey({ openAdminStore }: OpenedStore, folder: string): Promise<string> {
  const key = await issueFirstKey((await openAdminStore()).keys, { now: Date.now, randomBytes });
  if (key === undefined) return '';
  return `the first key ${process.stdout.isTTY ? `is ${key}` : `is in ${keepFirstKey(key, folder)}`}\n`;
}

run().catch((error: unknown) => {
  const faults = error instanceof ConfigError ? error.faults : [error instanceof Error ? error.message : String(error)];
  for (const fault of faults) console.error(fault);
  process.exit(1);
});
