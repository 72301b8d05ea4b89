import { execFile } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { copyFile, mkdir, mkdtempDisposable, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ownFile, readOwnFile, readSharedBlock } from '../lib/deployment-block.ts';

const run = promisify(execFile);

/**
 * The named commit, or else the one where this branch left the main line; on the main line, and where that has none of the settings
 * that this branch has, as in a clone of a repository that somebody else keeps, the last commit.
 */
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
  const head = await git('rev-parse', 'HEAD');
  const isOwnLine = branchedOff !== undefined && (await holdsOwnFile(root, branchedOff));
  if (branchedOff === undefined || (!isOwnLine && (await holdsOwnFile(root, head))))
    return { commit: head, name: 'HEAD' };
  return { commit: branchedOff, name: 'origin/main' };
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

/** Whether the operator's own settings are in a commit. */
const holdsOwnFile = (root: string, commit: string): Promise<boolean> =>
  run('git', ['cat-file', '-e', `${commit}:./${ownFile}`], { cwd: root }).then(
    () => true,
    () => false,
  );

/**
 * Gives a checkout the settings of the operator's that are deployed: those of the named file. Without one, where only the working
 * tree has any, both sides get the same, and what it returns says that they can't be compared.
 */
export async function placeSettings(
  root: string,
  { folder, commit, name }: { readonly folder: string; readonly commit: string; readonly name: string },
  deployed: string | undefined,
): Promise<string | undefined> {
  if (deployed !== undefined) {
    await writeFile(join(folder, ownFile), await readSettingsFile(deployed));
    return undefined;
  }
  if (!existsSync(join(root, ownFile)) || (await holdsOwnFile(root, commit))) return undefined;
  await copyFile(join(root, ownFile), join(folder, ownFile));
  return `${ownFile} is not in ${name}, so what changes in it was not compared: name a copy of what is deployed with --settings OLD.json, or a commit that has it with --base`;
}

async function readSettingsFile(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw new Error(`there is no file ${path}`);
  });
  try {
    JSON.parse(text);
    return text;
  } catch (error) {
    throw new Error(`${path} is no JSON: ${Object(error).message}`);
  }
}
