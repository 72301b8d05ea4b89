import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { issueKey, type KeyRequest } from '../../lambda/identity/issued-keys.ts';
import { createDocuments } from '../../lambda/store/admin/documents.ts';
import { createKeyStore } from '../../lambda/store/admin/keys.ts';
import type { StoreEnvironment } from './store-process.ts';
import type { Script } from './upstream-process.ts';

export type World = Awaited<ReturnType<typeof startWorld>>;

/** Everything that a gateway depends on, each in its own process. */
export async function startWorld() {
  const [upstream, store] = [start('upstream-process.ts'), start('store-process.ts')];
  const [[{ url }], [environment]]: [[{ url: string }], [StoreEnvironment]] = await Promise.all([
    once(upstream, 'message') as Promise<[{ url: string }]>,
    once(store, 'message') as Promise<[StoreEnvironment]>,
  ]);
  const credentials = async () => ({ accessKeyId: 'local', secretAccessKey: 'local' });
  const documents = createDocuments({ region: 'local', credentials, environment });
  const keyStore = createKeyStore(documents, environment.KEYS_TABLE);
  return {
    upstreamUrl: url,
    /** Tells a function where its stores are. */
    environment,
    /** Issues keys, each to its own member, with limits that the bench does not reach. */
    async issueKeys(count: number, more: Partial<KeyRequest> = {}): Promise<string[]> {
      const keys: string[] = [];
      while (keys.length < count) {
        // Not all at once, which would take a busy machine too long.
        const issued = Array.from({ length: Math.min(64, count - keys.length) }, () => {
          const request = { member: randomUUID(), label: 'bench', limit: 1_000_000, ...more };
          return issueKey(keyStore, request, { now: Date.now, randomBytes });
        });
        keys.push(...(await Promise.all(issued)).map(({ key }) => key));
      }
      return keys;
    },
    /** Sets how the upstream answers from now on. */
    async play(script: Script) {
      const ready = once(upstream, 'message');
      upstream.send(script);
      await ready;
    },
    async [Symbol.asyncDispose]() {
      for (const child of [upstream, store]) child.removeAllListeners('exit').kill('SIGKILL');
    },
  };
}

function start(file: string): ChildProcess {
  const child = fork(join(import.meta.dirname, file), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  return child.once('exit', () => {
    throw new Error(`a process of the bench has ended: ${file}`);
  });
}
