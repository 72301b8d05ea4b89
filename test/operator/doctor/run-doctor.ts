import { CommanderError } from 'commander';
import { createDoctorCommand, type Dependencies } from '../../../operator/doctor/command.ts';
import type { Row } from '../../../operator/doctor/report.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { type Meddling, startMeddlingProxy } from '../../support/meddling-proxy.ts';

/** What a command line has said, and the exit code. */
export interface Said {
  readonly out: string;
  readonly err: string;
  readonly code: number;
  /** What commander threw, for wrong usage. */
  readonly thrown: CommanderError | undefined;
}

/** Runs the doctor's command line in this process. */
export async function runDoctor(args: readonly string[], dependencies: Partial<Dependencies> = {}): Promise<Said> {
  const said = { out: '', err: '', code: 0 };
  const command = createDoctorCommand({
    // It hardly moves, so that a busy machine does not fail tests that have nothing to do with time.
    now: () => performance.now() / 1000,
    wait: () => Promise.reject(new Error('there is nothing to wait for')),
    readBlock: () => undefined,
    print: (text) => {
      said.out += `${text}\n`;
    },
    printError: (text) => {
      said.err += text;
    },
    setExitCode: (code) => {
      said.code = code;
    },
    ...dependencies,
  });
  try {
    await command.parseAsync(args, { from: 'user' });
    return { ...said, thrown: undefined };
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    return { ...said, code: thrown.exitCode, thrown };
  }
}

interface Surroundings extends Partial<Dependencies> {
  readonly meddling?: Meddling;
  /** Of cdk.json. */
  readonly block?: object;
}

/** What the doctor says of a gateway, with a new key. */
export async function examine(gateway: TestGateway, args: readonly string[], surroundings: Surroundings = {}) {
  const { meddling, block, ...dependencies } = surroundings;
  const key = await gateway.issueKey();
  await using proxy = meddling && (await startMeddlingProxy(gateway.url, meddling));
  const base = proxy?.url ?? gateway.url;
  return await runDoctor(['--base', base, '--key', key, ...args], { readBlock: () => block, ...dependencies });
}

export const readRows = ({ out }: Said): readonly Row[] => JSON.parse(out).rows;
export const failedIn = (said: Said) => readRows(said).filter(({ mark }) => mark === 'fail');
export const checksOf = (rows: readonly Row[]) => rows.map(({ area, check }) => `${area}: ${check}`);

/** The settings of cdk.json that every stage needs. */
export const requiredSettings = {
  UPSTREAM_BASE_URL: 'https://upstream.example/v1',
  UPSTREAM_TEXT_MODEL: 'text-model',
  UPSTREAM_VISION_MODEL: 'vision-model',
};
