import type { Worker } from 'node:worker_threads';
import { openSqliteStore } from '../../../../lambda/store/sqlite/store.ts';

// A gateway whose store's thread has died. It would otherwise live on.
let thread: Worker | undefined;
process.on('worker', (worker) => (thread = worker));
await openSqliteStore(process.argv[2] ?? '', { now: Date.now, serves: true });
setInterval(() => {}, 1_000_000);
await thread?.terminate();
