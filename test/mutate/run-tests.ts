import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Defect } from './defects.ts';

/** How tests ended: all passed, one failed, or they did not end. */
export type Run =
  | { readonly outcome: 'passed' | 'hung' }
  | { readonly outcome: 'failed'; readonly test: string | undefined };

/** Milliseconds for the start, each test file and one test, on a busy machine: a test that waits in vain fails long before, an endless loop does not. */
const limits = { start: 120_000, file: 20_000, test: 30_000 };

/** Runs test files in this order in a separate process, up to the first failure. The file with the defect itself is not changed. */
export async function runTests(tests: readonly string[], path?: string, defect?: Defect): Promise<Run> {
  if (tests.length === 0) return { outcome: 'passed' };
  const words = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', '--max-old-space-size=2048'];
  const jest = ['node_modules/jest/bin/jest.js', '--bail', '--forceExit'];
  const projects = ['--selectProjects', 'unit', 'integration', 'long'];
  const workers = tests.length < 4 ? ['--runInBand'] : ['--maxWorkers=2'];
  const ours = ['--env', '<rootDir>/test/mutate/first-failure.mjs', '--testTimeout', String(limits.test)];
  const order = ['--testSequencer', '<rootDir>/test/mutate/in-given-order.mjs'];
  const child = spawn(
    process.execPath,
    [...words, ...jest, ...projects, ...workers, ...ours, ...order, '--runTestsByPath', ...tests],
    {
      env: {
        ...process.env,
        TEST_ORDER: JSON.stringify(tests),
        ...(defect && { PLANTED_DEFECT: JSON.stringify({ path, ...defect }) }),
      },
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true, // its own group, with its workers
    },
  );
  const stop = () => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL');
  let hung = false;
  const timer = setTimeout(
    () => {
      hung = true;
      stop();
    },
    limits.start + tests.length * limits.file,
  );
  process.once('exit', stop);
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [status] = await once(child, 'close');
  clearTimeout(timer);
  process.off('exit', stop);
  if (status === 0) return { outcome: 'passed' };
  return hung ? { outcome: 'hung' } : { outcome: 'failed', test: /^FAIL \w+ (\S+)/m.exec(said)?.[1] };
}
