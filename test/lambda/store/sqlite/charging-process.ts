import { openSync, writeSync } from 'node:fs';
import { createToken } from '../../../../lambda/store/counters.ts';
import { openSqliteStore } from '../../../../lambda/store/sqlite/store.ts';

// Charges a counter as fast as it can, until it is killed or refused. Each charge that was granted is a byte in a file, which outlives
// the process, as what waits in a pipe may not.
const [folder = '', item = '', record = '', limit = ''] = process.argv.slice(2);
const granted = openSync(record, 'a');
const { store, close } = await openSqliteStore(folder, { now: Date.now, serves: true });
const window = { item, period: 1, limit: Number(limit), burst: 10_000, minute: 1 };
const next = async (): Promise<void> => {
  const charge = await store.counters.charge(window, createToken());
  if (!charge.granted) return;
  writeSync(granted, '+');
  process.stdout.write('+');
  await next();
};
await Promise.all(Array.from({ length: 20 }, next));
await close();
