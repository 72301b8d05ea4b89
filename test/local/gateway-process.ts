import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { inTime } from '../support/wait-until.ts';

export type GatewayProcess = ReturnType<typeof observe>;

type Variables = Readonly<Record<string, string>>;

const entry = join(import.meta.dirname, '../../bin/serve.ts');

/** Runs `bin/serve.ts`, or another file, on a free port, with only the given variables and those that every process here has. */
export function spawnGateway(variables: Variables = {}, file = entry) {
  return observe([process.execPath, file], variables);
}

/** Runs `bin/serve.ts` in a terminal. What it prints anywhere is its output. */
export async function startInTerminal(variables: Variables = {}) {
  const command = `stty -onlcr; exec '${process.execPath}' '${entry}'`;
  const recorder = process.platform === 'darwin' ? ['/dev/null', 'sh', '-c', command] : ['-ec', command, '/dev/null'];
  const gateway = observe(['script', '-q', ...recorder], { TERM: 'xterm-256color', ...variables });
  await gateway.says(/listening on /);
  return gateway;
}

function observe([command = '', ...words]: readonly string[], variables: Variables) {
  const { PATH, TMPDIR, NODE_COMPILE_CACHE } = process.env;
  // Nobody scripts what an upstream is asked at the start, but for the tests of that.
  const env = { PATH, TMPDIR, NODE_COMPILE_CACHE, PORT: '0', START_CHECK: 'false', ...variables };
  const child = spawn(command, words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (errors += text));
  const ended = once(child, 'close').then(([code, signal]) => code ?? signal);
  const url = () => /listening on (http:\/\/\S+)/.exec(stripVTControlCharacters(output))?.[1] ?? '';

  return {
    pid: child.pid,
    get url() {
      return url();
    },
    get port() {
      return Number(new URL(url()).port);
    },
    /** The first start's key, from the file that the output names or, at a terminal, as it was printed; empty if there was none. */
    get key() {
      const path = /'(\/.*\/first-key)'|first key is in (\S+)/.exec(output)?.slice(1).find(Boolean);
      return /ltk_[\w-]+/.exec(path ? readFileSync(path, 'utf8') : output)?.[0] ?? '';
    },
    output: () => output,
    /** Stops reading the output, like a slow log collector, until the function that it returns is called. */
    leaveUnread() {
      child.stdout.pause();
      return () => child.stdout.resume();
    },
    errors: () => errors,
    /** Resolves once the output matches. */
    async says(pattern: RegExp) {
      while (!pattern.test(output)) {
        const news = Promise.race([once(child.stdout, 'data').then(() => false), ended.then(() => true)]);
        const over = await inTime(news, `the process says ${pattern}`);
        if (over && !pattern.test(output)) throw new Error(`ended without saying ${pattern}: ${output}${errors}`);
      }
    },
    /** Closes the output, like a log collector that has crashed. */
    closeOutput: () => child.stdout.destroy(),
    signal: (signal: NodeJS.Signals) => child.kill(signal),
    /** The exit code, or the name of the signal that ended the process. */
    get ended(): Promise<number | string> {
      const exit = inTime(ended, 'the process has ended');
      exit.catch(() => {});
      return exit;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Runs it and waits until it accepts requests. */
export async function startGatewayProcess(variables: Variables = {}, file = entry) {
  const gateway = spawnGateway(variables, file);
  await gateway.says(/listening on /);
  return gateway;
}
