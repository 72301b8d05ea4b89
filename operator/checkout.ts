import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { copyFile, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ownFile, readOwnFile, readSharedBlock } from '../lib/deployment-block.ts';

const run = promisify(execFile);

/**
 * The commit to compare with: the named one, or else the merge base with origin/main. Without that, on main itself, or if the
 * merge base lacks the settings file that this branch has (as in a clone of somebody else's repository), HEAD.
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

/** A temporary folder, removed with its scope, or on exit if a signal ends the process. */
export async function makeFolder(prefix: string) {
  // At once, so that no signal comes between the folder and its removal.
  const path = mkdtempSync(join(tmpdir(), prefix));
  const removeAtOnce = () => rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  const end = (_: string, signal: number) => process.exit(128 + signal);
  process.on('exit', removeAtOnce).on('SIGINT', end).on('SIGTERM', end);
  return {
    path,
    async [Symbol.asyncDispose]() {
      process.off('exit', removeAtOnce).off('SIGINT', end).off('SIGTERM', end);
      await rm(path, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** Checks a commit out into a temporary folder with its packages, ready to be synthesized. The note says if the packages differ. */
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
    return 'package-lock.json differs and the packages of the base could not be installed: changes that come from packages are not shown';
  }
}

/** Whether a checkout defines this stage. Without any stages, all stages are the same. */
export function hasStage(root: string, stage: string): boolean {
  const stages = [readSharedBlock(root), readOwnFile(root)].flatMap((block) => Object(block).stages ?? []);
  return stages.length === 0 || stages.some((one) => Object.hasOwn(one, stage));
}

/** Whether a commit contains gateway.json. */
const holdsOwnFile = (root: string, commit: string): Promise<boolean> =>
  run('git', ['cat-file', '-e', `${commit}:./${ownFile}`], { cwd: root }).then(
    () => true,
    () => false,
  );

/**
 * Copies the deployed settings (the named file) into a checkout. Without one, if only the working tree has gateway.json, both
 * sides get that, and the returned note says that settings were not compared.
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
    throw new Error(`${path} is not valid JSON: ${Object(error).message}`);
  }
}
