import { readPageFiles } from '../lambda/accounts/pages.ts';
import type { Aws } from '../lambda/aws/call-service.ts';
import type { WriteLog } from '../lambda/report/log.ts';
import { createGatewayWithAccounts, startServer } from '../lambda/serve.ts';
import type { Config } from '../lambda/settings/config.ts';
import type { RunEvery } from '../lambda/settings/refresh.ts';
import { makePages } from '../lib/reference/render-reference.ts';
import { createFunction, startFunctionUrl } from './function-url.ts';
import type { LocalSettings } from './local-settings.ts';
import { installAwslambda } from './response-stream.ts';

/** Long enough for most answers: a person waits at the terminal. */
const localGrace = 10_000;

/**
 * Serves the same app either way: behind a stand-in for the Function URL, or by the HTTP server. Closing it accepts no more requests,
 * allows the running ones `graceMs` to end, then cuts them.
 */
export async function startEngine(config: Config, settings: LocalSettings, aws: Aws, writeLog: WriteLog) {
  const { host, port, engine, server: serverConfig } = settings;
  const world = {
    ...{ ...aws, writeLog, now: Date.now },
    pageFiles: readPageFiles(new URL('../lambda/accounts/pages/', import.meta.url), await makePages()),
  };
  if (engine === 'web') {
    const runEvery: RunEvery = (task, time) => setInterval(task, time).unref();
    const { stop, ...server } = await startServer(config, serverConfig, { ...world, runEvery });
    const graceMs = serverConfig.shutdownGrace;
    return { ...server, graceMs, close: () => stop(graceMs) };
  }
  installAwslambda();
  const handler = createFunction(createGatewayWithAccounts(config, { ...world, scheme: 'http' }));
  const { close, ...server } = await startFunctionUrl({ handler, host, port, bodyLimit: config.requestBodyLimit });
  return { ...server, graceMs: localGrace, close: () => close(localGrace) };
}
