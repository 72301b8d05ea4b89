import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDoctorCommand, type Dependencies } from '../../../operator/doctor/command.ts';
import type { Row } from '../../../operator/doctor/report.ts';
import { startDemoGateway } from '../../support/demo-gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { type Meddling, startMeddlingProxy } from '../../support/meddling-proxy.ts';

/** What a command line has said, and what it threw. */
interface Said {
  readonly out: string;
  readonly err: string;
  readonly thrown?: Error;
}

/** Runs the doctor's command line in this process. */
export async function runDoctor(args: readonly string[], dependencies: Partial<Dependencies> = {}): Promise<Said> {
  const said = { out: '', err: '' };
  const command = createDoctorCommand({
    // It hardly moves, so that a busy machine does not fail tests that have nothing to do with time.
    now: () => performance.now() / 1000,
    wait: () => Promise.reject(new Error('there is nothing to wait for')),
    folder: 'nowhere',
    region: undefined,
    openAws: () => Promise.reject(new Error('nobody is signed in to AWS')),
    print: (text) => {
      said.out += `${text}\n`;
    },
    printError: (text) => {
      said.err += text;
    },
    ...dependencies,
  });
  try {
    await command.parseAsync(args, { from: 'user' });
    return said;
  } catch (thrown) {
    return { ...said, thrown: thrown as Error };
  }
}

interface Surroundings extends Partial<Dependencies> {
  readonly meddling?: Meddling;
  /** The operator's settings of the stage `dev`. */
  readonly stage?: Readonly<Record<string, string>>;
}

/** The rows that the doctor writes about a gateway, with a new key. */
export async function examine(gateway: TestGateway, args: readonly string[] = [], surroundings: Surroundings = {}) {
  const { meddling, stage, ...dependencies } = surroundings;
  const key = await gateway.issueKey();
  await using proxy = meddling && (await startMeddlingProxy(gateway.url, meddling));
  await using folder = await mkdtempDisposable(join(tmpdir(), 'doctor-'));
  const block = { defaults: requiredSettings, stages: { dev: {} } };
  await writeFile(join(folder.path, 'cdk.json'), JSON.stringify({ context: { gateway: block } }));
  await writeFile(join(folder.path, 'gateway.json'), JSON.stringify({ stages: { dev: stage ?? {} } }));
  const words = ['--base', proxy?.url ?? gateway.url, '--key', key, '--json', ...(stage ? ['--stage', 'dev'] : [])];
  const { out, thrown } = await runDoctor([...words, ...args], { folder: folder.path, ...dependencies });
  if (out === '') throw thrown;
  const { rows, healthy }: { rows: Row[]; healthy: boolean } = JSON.parse(out);
  if (healthy === (thrown !== undefined)) throw new Error(`healthy is ${healthy}, though it ended with ${thrown}`);
  return rows;
}

/** The details of rows by their names, of those that failed or of other ones. */
export const detailsOf = (rows: readonly Row[], mark: Row['mark'] = 'fail') =>
  Object.fromEntries(
    rows.flatMap((row) => (row.mark === mark ? [[`${row.area}: ${row.check}`, row.detail] as const] : [])),
  );

/** The settings of cdk.json that every stage needs. */
const requiredSettings = {
  UPSTREAM_BASE_URL: 'https://upstream.example/v1',
  UPSTREAM_TEXT_MODEL: 'text-model',
  UPSTREAM_VISION_MODEL: 'vision-model',
};

/** A gateway in front of the demo. Each key has a member of its own, so that no test spends another's quota. */
export async function startGatewayOfMembers(options: Parameters<typeof startDemoGateway>[0] = {}) {
  const gateway = await startDemoGateway({ pace: 0, ...options });
  let members = 0;
  const issueKey: TestGateway['issueKey'] = (request) => {
    members += 1;
    return gateway.issueKey({ member: `member-${members}`, ...request });
  };
  return { ...gateway, issueKey };
}
