import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Measurement } from '../measurement.ts';
import { type Serving, serveInTurn, startServing } from '../serving.ts';
import type { Subject } from '../subject.ts';
import { chatOf } from '../world/conversation.ts';

const run = promisify(execFile);
const body = chatOf(500, false);
const perSecond = 1_000;
const limit = 1_000_000;
/** No key may send more than 10,000 requests a minute. */
const keyCount = 8;

/** The server with a folder of its own, for a minute. */
export const oneMachine: Measurement = {
  rounds: 1,
  subjects: ['server'],
  figures: [
    ['one machine: start to first answer', 'ms', 'start'],
    ['memory at rest', 'MB', 'memory'],
    ['requests a second for a minute, of 1,000 wanted', '', 'rate'],
    ['a request, processor time', 'ms', 'processor'],
    ['charges too many or too few', '', 'wrong', { bound: 0 }],
  ],
  async run(subject, world) {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'gateway-bench-data-'));
    const tables = { KEYS_TABLE: '', QUOTA_TABLE: '', AWS_ENDPOINT_URL_DYNAMODB: '' };
    const settings = { ...subject.environment, ...tables, BURST_LIMIT: '10000', DATA_DIR: folder.path };
    const keys: string[] = [];
    while (keys.length < keyCount) keys.push(await issueKey(subject, settings));
    await world.play({ kind: 'whole' });
    const startedAt = performance.now();
    await using serving = await startServing({ ...subject, environment: settings }, world, 0);
    await askOnce(serving, keys);
    const start = performance.now() - startedAt;
    const memory = memoryOf(serving.pid);
    const wanted = 60 * perSecond;
    const load = { clients: 128, pace: perSecond, keys, more: (sent: number) => sent < wanted };
    const { processor, time } = await serving.measure(() => serveInTurn(serving, body, load));
    let used = 0;
    for (const key of keys) used += limit - (await askOnce(serving, [key]));
    return {
      ...{ start: [start], memory: [memory], rate: [(wanted / time) * 1000], processor: [processor / wanted] },
      wrong: [Math.abs(used - (1 + wanted + keys.length))],
    };
  },
};

/** By the command beside the server, as an operator issues one. */
async function issueKey({ file }: Subject, environment: Record<string, string>): Promise<string> {
  const words = [join(dirname(file), 'keys.js'), 'issue', '--limit', String(limit), '--json'];
  const { stdout } = await run(process.execPath, words, { env: { PATH: process.env.PATH, ...environment } });
  return JSON.parse(stdout).key;
}

/** Resolves with what is left of the quota. */
async function askOnce(serving: Serving, keys: readonly string[]): Promise<number> {
  const { answer } = await serving.ask(body, { keys });
  await once(answer.resume(), 'end');
  return Number(answer.headers['x-svc-remaining']);
}

function memoryOf(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}
