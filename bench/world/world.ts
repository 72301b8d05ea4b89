import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Script } from './answers.ts';
import type { StoreAddresses } from './store.ts';

/** Everything that a gateway needs around it, each in its own process. */
export interface World extends AsyncDisposable {
  readonly upstreamUrl: string;
  readonly store: StoreAddresses;
  /** Sets how the upstream answers from now on. */
  play(script: Script): Promise<void>;
  /** When each event of the next stream with pauses was sent. */
  sentTimes(): Promise<readonly number[]>;
}

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
    sentTimes: async () => ((await tell(upstream)) as { sentAt: readonly number[] }).sentAt,
    async [Symbol.asyncDispose]() {
      await Promise.all([stop(upstream), stop(store)]);
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

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
