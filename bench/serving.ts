import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { processorTime } from './process-figures.ts';
import type { Subject } from './subject.ts';
import { keysInTurn } from './world/store.ts';
import type { World } from './world/world.ts';

/** A server in a fresh process, and clients that ask it. */
export interface Serving extends AsyncDisposable {
  readonly pid: number;
  /** How many files and connections it holds open. */
  openDescriptors(): number;
  /** Sends a chat and resolves with the answer's head; over a connection of its own where none is to be kept. */
  ask(body: string, options?: { readonly keep?: boolean }): Promise<Asked>;
  /** The milliseconds of processor time that the server uses while a step lasts, and those on the clock. */
  measure(step: () => Promise<unknown>): Promise<{ readonly processor: number; readonly time: number }>;
}

export interface Asked {
  readonly answer: IncomingMessage;
  /** Goes away without reading on. */
  leave(): void;
}

let servings = 0;

export async function startServing({ name, file, environment }: Subject, { store }: World): Promise<Serving> {
  const env = { PATH: process.env.PATH, HOST: '127.0.0.1', PORT: '0', ...environment };
  const child = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = once(child, 'exit');
  const url = Promise.withResolvers<string>();
  // Its log is read on and dropped, as a platform reads it.
  createInterface(child.stdout).on('line', (line) => {
    const [, listening] = /^listening on (http:\S+)/.exec(line) ?? [];
    if (listening !== undefined) url.resolve(listening);
  });
  gone.then(() => url.reject(new Error(`${name} has ended`)));
  const target = `${await url.promise}/v1/chat/completions`;
  const agent = new Agent({ keepAlive: true });
  const firstKey = (servings++ * keysInTurn) % store.keys.length;
  let turn = 0;
  const pid = child.pid ?? 0;
  return {
    pid,
    openDescriptors: () => readdirSync(`/proc/${pid}/fd`).length,
    async ask(body, { keep = true } = {}) {
      for (;;) {
        const key = store.keys[firstKey + (turn++ % keysInTurn)] ?? '';
        const headers = { 'content-length': Buffer.byteLength(body), 'x-api-key': key };
        const asking = request(target, { method: 'POST', headers, agent: keep && agent }).end(body);
        const [answer] = (await once(asking, 'response')) as [IncomingMessage];
        const leave = () => {
          answer.on('error', () => {});
          asking.destroy();
        };
        if (answer.statusCode === 200) return { answer, leave };
        leave();
        // The embedded store shares its cores with all these streams, and may be too slow: clients come again.
        if (answer.statusCode !== 503) throw new Error(`${name} answered ${answer.statusCode}`);
        await setTimeout(100);
      }
    },
    async measure(step) {
      const [before, startedAt] = [processorTime(pid), performance.now()];
      await step();
      return { processor: processorTime(pid) - before, time: performance.now() - startedAt };
    },
    async [Symbol.asyncDispose]() {
      agent.destroy();
      child.kill('SIGKILL');
      await gone;
    },
  };
}
