import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync, writeFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { openSqliteStore } from '../../../../lambda/store/sqlite/store.ts';

const program = join(import.meta.dirname, 'charging-process.ts');

/** Lets processes charge one counter until they have answered as much together, kills them all, and gives what they have answered. */
export async function chargeUntilKilled(
  folder: string,
  item: string,
  processes: number,
  most: number,
  limit = 10_000,
): Promise<number> {
  let heard = 0;
  const record = join(folder, `${item}.record`);
  writeFileSync(record, '');
  const children = Array.from({ length: processes }, () =>
    spawn(process.execPath, [program, folder, item, record, `${limit}`], { stdio: ['ignore', 'pipe', 'inherit'] }),
  );
  await Promise.all(
    children.map(async (child) => {
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        heard += text.length;
        if (heard >= most) for (const one of children) one.kill('SIGKILL');
      });
      await once(child, 'close');
    }),
  );
  return statSync(record).size;
}

/** Kills as many processes, each after more charges than the one before: it must lose nothing that it has answered. */
export async function expectNothingLost(rounds: number): Promise<void> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'gateway-kill-'));
  for (let round = 1; round <= rounds; round += 1) {
    const item = `round ${round}`;
    const answered = await chargeUntilKilled(folder.path, item, 1, round * 450);
    const { store, close } = await openSqliteStore(folder.path, { now: Date.now, serves: true });
    const { used, inMinute } = await store.counters.read({ item, period: 1, minute: 1 });
    await close();
    expect(used).toBeGreaterThanOrEqual(answered);
    // What was on its way when it was killed: twenty at most.
    expect(used).toBeLessThanOrEqual(answered + 20);
    expect([round, inMinute]).toEqual([round, used]);
  }
}
