import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Base {
  readonly commit: string;
  /** For people to read. */
  readonly name: string;
}

/** The named commit, or else the one where this branch left the main line; on the main line, the last commit. */
export async function findBase(root: string, wanted: string | undefined): Promise<Base> {
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

/** Checks a commit out into a folder, ready to be synthesized, and says what differs from back then. */
export async function checkOut(root: string, { commit }: Base, folder: string): Promise<string | undefined> {
  await mkdir(folder, { recursive: true });
  const archive = join(folder, '..', 'base.tar');
  await run('git', ['archive', '--output', archive, commit], { cwd: root });
  await run('tar', ['--extract', '--file', archive, '--directory', folder]);
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

/** Whether a checkout has a stage. A cdk.json without stages is the same for every stage. */
export async function hasStage(root: string, stage: string): Promise<boolean> {
  const file: { readonly context?: { readonly gateway?: { readonly stages?: object } } } = JSON.parse(
    await readFile(join(root, 'cdk.json'), 'utf8'),
  );
  const stages = file.context?.gateway?.stages;
  return stages === undefined || Object.hasOwn(stages, stage);
}
