import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Script } from './upstream-process.ts';

/** Everything that a gateway needs around it, each in its own process. */
export interface World extends AsyncDisposable {
  readonly upstreamUrl: string;
  readonly store: StoreAddresses;
  /** Sets how the upstream answers from now on. */
  play(script: Script): Promise<void>;
}

/** What the store's process reports when it is ready. */
export interface StoreAddresses {
  readonly keys: readonly string[];
  /** Like these, each with a budget that is never used up. */
  readonly keysWithBudget: readonly string[];
  /** For the functions. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Used in turn, so that none gets more requests a minute than a member would send. */
export const keysPerSession = 64;

export const secrets = {
  upstream: JSON.stringify({ UPSTREAM_API_KEYS: 'upstream-key' }),
  'network-salt': 'a salt of at least sixteen characters',
};

export async function startWorld(): Promise<World> {
  const [upstream, store] = [start('upstream-process.ts'), start('store-process.ts')];
  const [{ url }, addresses] = (await Promise.all([tell(upstream), tell(store)])) as [{ url: string }, StoreAddresses];
  return {
    upstreamUrl: url,
    store: addresses,
    async play(script) {
      const ready = tell(upstream);
      upstream.send(script);
      await ready;
    },
    async [Symbol.asyncDispose]() {
      for (const child of [upstream, store]) child.kill('SIGKILL');
    },
  };
}

function start(file: string): ChildProcess {
  return fork(join(import.meta.dirname, file), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

/** The next message of a child process; its exit is an error. */
async function tell(child: ChildProcess): Promise<unknown> {
  const over = new AbortController();
  try {
    return await Promise.race([
      once(child, 'message', over).then(([message]) => message),
      once(child, 'exit', over).then(() => {
        throw new Error(`a process of the bench has ended: ${child.spawnargs.join(' ')}`);
      }),
    ]);
  } finally {
    over.abort();
  }
}
