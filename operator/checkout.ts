import { execFile } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { copyFile, mkdir, mkdtempDisposable, readFile, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ownFile, readOwnFile, readSharedBlock } from '../lib/deployment-block.ts';

const run = promisify(execFile);

/** The named commit, or else the one where this branch left the main line; on the main line, the last commit. */
export async function findBase(root: string, wanted: string | undefined): Promise<{ commit: string; name: string }> {
  const git = async (...words: string[]) => (await run('git', words, { cwd: root })).stdout.trim();
  if (wanted !== undefined) {
    const commit = await git('rev-parse', '--verify', '--quiet', '--end-of-options', `${wanted}^{commit}`).catch(
      () => '',
    );
    if (commit === '') throw new Error(`there is no commit ${wanted}`);
    return { commit, name: wanted };
  }
  const branchedOff = await git('merge-base', 'HEAD', 'origin/main').catch(() => undefined);
  if (branchedOff !== undefined) return { commit: branchedOff, name: 'origin/main' };
  return { commit: await git('rev-parse', 'HEAD'), name: 'HEAD' };
}

/** A temporary folder that goes with its scope, or with the process if a signal ends it. */
export async function makeFolder(prefix: string) {
  const { path, remove } = await mkdtempDisposable(join(tmpdir(), prefix));
  const removeAtOnce = () => rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  const end = (_: string, signal: number) => process.exit(128 + signal);
  process.on('exit', removeAtOnce).on('SIGINT', end).on('SIGTERM', end);
  return {
    path,
    async [Symbol.asyncDispose]() {
      process.off('exit', removeAtOnce).off('SIGINT', end).off('SIGTERM', end);
      await remove();
    },
  };
}

/** Checks a commit out into a temporary folder, ready to be synthesized. A note says what differs from back then. */
export async function checkOut(root: string, commit: string) {
  await using made = new AsyncDisposableStack();
  const { path } = made.use(await makeFolder('gateway-base-'));
  const [folder, archive] = [join(path, 'checkout'), join(path, 'base.tar')];
  await mkdir(folder);
  await run('git', ['archive', '--output', archive, commit], { cwd: root });
  await run('tar', ['--extract', '--file', archive, '--directory', folder]);
  const note = await addPackages(root, folder);
  const kept = made.move();
  return { folder, note, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

async function addPackages(root: string, folder: string): Promise<string | undefined> {
  const lock = (place: string) => readFile(join(place, 'package-lock.json'), 'utf8').catch(() => '');
  const borrow = () => symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  if ((await lock(root)) === (await lock(folder))) {
    await borrow();
    return undefined;
  }
  try {
    await run('npm', ['ci', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
    return undefined;
  } catch {
    await borrow();
    return 'package-lock.json differs and the packages of the base could not be installed: what changes with packages is not shown';
  }
}

/** Whether a checkout has a stage. One without stages is the same for every stage. */
export function hasStage(root: string, stage: string): boolean {
  const stages = [readSharedBlock(root), readOwnFile(root)].flatMap((block) => Object(block).stages ?? []);
  return stages.length === 0 || stages.some((one) => Object.hasOwn(one, stage));
}

/** Gives a checkout the operator's own settings, where they are in no commit: both sides then have the same. */
export async function copyOwnFile(root: string, folder: string): Promise<string | undefined> {
  const isTracked = await run('git', ['ls-files', '--error-unmatch', ownFile], { cwd: root }).then(
    () => true,
    () => false,
  );
  if (isTracked || !existsSync(join(root, ownFile))) return undefined;
  await copyFile(join(root, ownFile), join(folder, ownFile));
  return `${ownFile} is in no commit, so both sides have it: what changes in it, \`npx cdk diff\` shows`;
}
