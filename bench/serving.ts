import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { measureStep } from './measurement.ts';
import type { Asking } from './session.ts';
import type { Subject } from './subject.ts';
import type { World } from './world/world.ts';

export type Serving = Awaited<ReturnType<typeof startServing>>;

/** Starts a server in a fresh process, and its clients, with as many keys as some hundred requests a second need. */
export async function startServing({ name, file, environment, headers: own }: Subject, world: World, keyCount = 2_000) {
  const ownKeys = await world.issueKeys(keyCount);
  const env = { PATH: process.env.PATH, HOST: '127.0.0.1', PORT: '0', ...environment };
  const child = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = once(child, 'exit');
  const url = Promise.withResolvers<string>();
  // Drains the server's log, as a platform would.
  createInterface(child.stdout).on('line', (line) => {
    const [, listening] = /^listening on (http:\S+)/.exec(line) ?? [];
    if (listening !== undefined) url.resolve(listening);
  });
  gone.then(() => url.reject(new Error(`${name} has ended`)));
  const address = await url.promise;
  const agent = new Agent({ keepAlive: true });
  let turn = 0;
  const pid = child.pid ?? 0;
  return {
    pid,
    keys: ownKeys,
    /**
     * Sends a chat, or what the path takes, with these keys in turn (by default the server's own). Resolves with the response's
     * head.
     */
    async ask(body: string, { keys = ownKeys, path = '/v1/chat/completions' }: Asking = {}) {
      for (;;) {
        const key = keys[turn++ % keys.length] ?? '';
        const headers = { 'content-length': Buffer.byteLength(body), 'x-api-key': key, ...own };
        const asking = request(address + path, { method: 'POST', headers, agent }).end(body);
        const response = await once(asking, 'response').catch((cause) => {
          // A server may close an idle connection just as it is reused.
          if (asking.reusedSocket && cause.code === 'ECONNRESET') return undefined;
          throw new Error(`${name} did not answer`, { cause });
        });
        if (response === undefined) continue;
        const [answer] = response as [IncomingMessage];
        /** Disconnects without reading the rest. */
        const leave = () => {
          answer.on('error', () => {});
          asking.destroy();
        };
        if (answer.statusCode === 200) return { answer, leave };
        leave();
        // The embedded store shares the cores with all these streams and may be too slow, so clients retry.
        if (answer.statusCode !== 503) throw new Error(`${name} answered ${answer.statusCode}`);
        await setTimeout(100);
      }
    },
    measure: (step: () => Promise<unknown>) => measureStep(pid, step),
    async [Symbol.asyncDispose]() {
      agent.destroy();
      child.kill('SIGKILL');
      await gone;
    },
  };
}

export interface Load extends Asking {
  readonly clients: number;
  /** Whether to continue after so many requests. */
  readonly more: (sent: number) => boolean;
  /** Requests a second; by default as fast as possible. */
  readonly pace?: number;
}

/** Clients that each send one request after the other. Returns their number. */
export async function serveInTurn(
  serving: Serving,
  body: string,
  { clients, more, pace, ...asking }: Load,
): Promise<number> {
  let sent = 0;
  const startedAt = performance.now();
  const askOn = async () => {
    while (more(sent)) {
      const due = pace === undefined ? 0 : startedAt + (sent * 1000) / pace;
      sent += 1;
      if (due > performance.now()) await setTimeout(due - performance.now());
      const { answer } = await serving.ask(body, asking);
      await once(answer.resume(), 'end');
    }
  };
  await Promise.all(Array.from({ length: clients }, askOn));
  return sent;
}
