import { randomBytes } from 'node:crypto';
import { createCounters } from '../../../lambda/tables/counters.ts';
import { createKeyStore } from '../../../lambda/tables/keys.ts';
import { createMemberStore } from '../../../lambda/tables/members.ts';
import { createScanCounters } from '../../../lambda/tables/scan-counters.ts';
import { createStopSwitch } from '../../../lambda/tables/stop-switch.ts';
import { createProgram } from '../../../operator/keys/program.ts';
import type { Target } from '../../../operator/keys/target.ts';
import { startTestDynamoDb, type TestDynamoDb } from '../../support/dynamodb.ts';

export const now = Date.parse('2026-11-21T10:00:00Z');
export const salt = 'the-salt-of-a-test';

/** The keys commands on real tables in this process. */
export interface KeysProgram {
  readonly database: TestDynamoDb;
  readonly target: Target;
  /** The output of a command, on a gateway with these settings; `print` hears it even if the command fails. */
  runOn(settings: Partial<Target>, args: readonly string[], print?: (text: string) => void): Promise<string>;
  run(...args: readonly string[]): Promise<string>;
  // biome-ignore lint/suspicious/noExplicitAny: each command prints another document
  runJson(...args: readonly string[]): Promise<any>;
  close(): Promise<void>;
}

export async function startKeysProgram(settings: Partial<Target> = {}): Promise<KeysProgram> {
  const database = await startTestDynamoDb();
  const { callDynamoDb, keysTable, quotaTable, close } = database;
  const target: Target = {
    ...{ url: 'http://127.0.0.1:8787/', serviceName: 'acme', access: 'open', memberLimit: 40, mostBurst: 148 },
    ...{ keysTable, quotaTable },
    keys: createKeyStore(callDynamoDb, keysTable),
    signOut: createMemberStore(callDynamoDb, keysTable).signOut,
    counters: createCounters(callDynamoDb, quotaTable, () => now),
    scanCounters: createScanCounters(callDynamoDb, quotaTable),
    stopSwitch: createStopSwitch(callDynamoDb, keysTable),
    readTokens: async () => ({ groups: [] }),
    readNetworkSalt: async () => salt,
    [Symbol.asyncDispose]: async () => {},
    ...settings,
  };
  const runOn: KeysProgram['runOn'] = async (given, args, hear = () => {}) => {
    let printed = '';
    const print = (text: string) => {
      printed += text;
      hear(text);
    };
    const openTarget = async () => ({ ...target, ...given });
    const surroundings = { now: () => now, randomBytes, openTarget, print, printError: print };
    const program = createProgram({ ...surroundings, pause: async () => {}, onProgress: () => {} });
    await program.parseAsync(args, { from: 'user' });
    return printed;
  };
  const run: KeysProgram['run'] = (...args) => runOn({}, args);
  return { database, target, runOn, run, runJson: async (...args) => JSON.parse(await run(...args, '--json')), close };
}
