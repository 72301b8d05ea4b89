import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Profiler } from 'node:inspector';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';

export type Profile = Profiler.Profile;

/** The profiler inside another process. */
export interface Inspector {
  /** Starts a new profile, and drops the one before. */
  restart(): Promise<void>;
  finish(): Promise<Profile>;
}

/** In microseconds. */
const interval = 200;
/** How long a process may take to listen, in milliseconds. */
const patience = 10_000;

/** For `--inspect-wait`: the process does nothing until an inspector tells it to run. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Connects to a waiting process, starts a profile, and lets the process run. */
export async function inspect(port: number): Promise<Inspector> {
  const socket = new WebSocket(await findAddress(port));
  await once(socket, 'open');
  let number = 0;
  const waiting = new Map<number, (result: unknown) => void>();
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data));
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  const call = <T>(method: string, params: object = {}): Promise<T> => {
    number += 1;
    const answer = Promise.withResolvers<unknown>();
    waiting.set(number, answer.resolve);
    socket.send(JSON.stringify({ id: number, method, params }));
    return answer.promise as Promise<T>;
  };
  await call('Profiler.enable');
  await call('Profiler.setSamplingInterval', { interval });
  await call('Profiler.start');
  await call('Runtime.runIfWaitingForDebugger');
  return {
    finish: async () => (await call<{ profile: Profile }>('Profiler.stop')).profile,
    async restart() {
      await call('Profiler.stop'); // of no effect once it has finished
      await call('Profiler.start');
    },
  };
}

async function findAddress(port: number): Promise<string> {
  for (const until = performance.now() + patience; performance.now() < until; ) {
    try {
      const [target] = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as {
        webSocketDebuggerUrl: string;
      }[];
      if (target) return target.webSocketDebuggerUrl;
    } catch {
      // It is not listening yet.
    }
    await setTimeout(20);
  }
  throw new Error('the process to be profiled has not started');
}
