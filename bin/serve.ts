import { styleText } from 'node:util';
import { flushed } from '../lambda/report/log.ts';
import { ConfigError } from '../lambda/settings/read-settings.ts';
import { startGateway } from '../local/start.ts';
import { renderWelcome } from '../local/welcome.ts';

const usage = `npm start

The gateway on this machine, with a store of its own and a demo upstream. It takes no arguments; its settings are
environment variables, such as:

  PORT=9000             where it listens; HOST is the address, 127.0.0.1 by default
  DATA_DIR=data         keeps keys and counters in this folder
  ENGINE=function-url   serves as behind a Function URL instead of by the HTTP server
  LOG_FORMAT=json       the log as a deployment writes it, also in a terminal; text, also in a pipe
  UPSTREAM_BASE_URL=…   a real upstream, with UPSTREAM_API_KEYS and UPSTREAM_TEXT_MODEL
  UPSTREAM_AUTH=aws     Amazon Bedrock with your AWS credentials, with AWS_REGION and UPSTREAM_TEXT_MODEL

docs/settings.md has all of them.`;

const [argument] = process.argv.slice(2);
if (argument === '--help' || argument === '-h') {
  console.log(usage);
  process.exit();
}
if (argument !== undefined) {
  console.error(`unknown argument ${argument}\n\n${usage}`);
  process.exit(2);
}

// npm forwards a signal that the terminal has already sent to the whole process group, so two at once count as one.
const sameSignalMs = 500;

// Ignore a closed stderr: nobody needs the warnings any more.
process.stderr.on('error', () => {});
// A closed stdout stops the gateway. It can close as early as the start.
const unread = new Promise<void>((resolve) => process.stdout.on('error', () => resolve()));

try {
  const gateway = await startGateway();
  let stoppingSince: number | undefined;
  const stop = async (why: string, output: NodeJS.WritableStream) => {
    stoppingSince = Date.now();
    output.write(
      `${why}: stopping; running requests may end, at most ${gateway.longestStop / 1000} s. A second signal stops at once.\n`,
    );
    await gateway.stop();
    await flushed(process.stdout, 5_000);
    process.exit(0);
  };
  const onSignal = (signal: NodeJS.Signals) => {
    if (stoppingSince === undefined) void stop(signal, process.stdout);
    else if (Date.now() - stoppingSince > sameSignalMs) process.exit(1);
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  // Like any program whose pipe is closed, stop. Once stopping, the rest of the output does not matter.
  void unread.then(() => {
    if (stoppingSince === undefined) void stop('stdout was closed', process.stderr);
  });
  for (const taken of gateway.taken) console.error(taken);
  for (const warning of gateway.warnings)
    console.error(styleText('yellow', `warning: ${warning}`, { stream: process.stderr }));
  process.stdout.write(renderWelcome(gateway));
} catch (error) {
  const faults = error instanceof ConfigError ? error.faults : [error instanceof Error ? error.message : String(error)];
  for (const fault of faults) console.error(fault);
  process.exit(1);
}
