import type { Worker } from 'node:worker_threads';
import { openSqliteStore } from '../../../../lambda/store/sqlite/store.ts';

// A gateway whose store's thread dies, and which then ends as the server does: it serves what it can, closes, and exits with 1.
let thread: Worker | undefined;
process.on('worker', (worker) => (thread = worker));
const { store, close } = await openSqliteStore(process.argv[2] ?? '', { now: Date.now, serves: true });
process.once('uncaughtException', async (error) => {
  console.error(String(error));
  await store.readStop().catch(({ cause }) => console.error(`refused: ${cause}`));
  await close();
  process.exit(1);
});
await thread?.terminate();
