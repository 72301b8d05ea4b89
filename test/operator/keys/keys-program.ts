import { randomBytes } from 'node:crypto';
import { openAdminStore } from '../../../lambda/store/admin/store.ts';
import { createCounters } from '../../../lambda/store/dynamodb/counters.ts';
import { createProgram } from '../../../operator/keys/program.ts';
import type { Target } from '../../../operator/keys/target.ts';
import { startTestDynamoDb } from '../../support/dynamodb.ts';

export const now = Date.parse('2026-11-21T10:00:00Z');
export const salt = 'the-salt-of-a-test';

/** The keys commands on real tables in this process. */
export async function startKeysProgram(settings: Partial<Target> = {}) {
  const database = await startTestDynamoDb();
  const { callDynamoDb, documents, keysTable, quotaTable, close } = database;
  const target: Target = {
    ...{ url: 'http://127.0.0.1:8787/', serviceName: 'acme', access: 'open', memberLimit: 40, mostBurst: 148 },
    tables: { documents, keysTable, quotaTable },
    ...openAdminStore(documents, database),
    readTokens: async () => [],
    readNetworkSalt: async () => salt,
    [Symbol.asyncDispose]: async () => {},
    ...settings,
  };
  /** The output of a command, on a gateway with these settings. */
  const runOn = async (given: Partial<Target>, ...args: readonly string[]) => {
    let printed = '';
    const print = (text: string) => {
      printed += text;
    };
    const openTarget = async () => ({ ...target, ...given });
    const surroundings = { now: () => now, randomBytes, openTarget, print, printError: print };
    const program = createProgram({ ...surroundings, pause: async () => {} });
    await program.parseAsync(args, { from: 'user' });
    return printed;
  };
  const run = (...args: readonly string[]) => runOn({}, ...args);
  const runJson = async (...args: readonly string[]) => JSON.parse(await run(...args, '--json'));
  /** The gateway's own, which charge. */
  const counters = createCounters(callDynamoDb, quotaTable, () => now);
  return { database, target, counters, runOn, run, runJson, close };
}
