import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Command, Option } from 'commander';
import { checkOut, findBase } from '../checkout.ts';
import { createCommand, type Terminal } from '../command-line.ts';

export interface Surroundings extends Terminal {
  /** The checkout in whose history the commit is. */
  readonly root: string;
  /** An empty folder to work in. */
  readonly folder: string;
  readonly read: (file: string) => string;
}

interface Options {
  readonly commit: string;
  readonly of: string;
}

/** The one command that reads a stack trace from production. */
export function createProgram({ root, folder, read, print, printError }: Surroundings): Command {
  return createCommand('npm run trace --', { print, printError })
    .description('Prints log lines with positions in the sources instead of the bundle. Builds the commit to do so.')
    .argument('[file]', 'the lines; without it, or with -, standard input', '-')
    .option('--commit <commit>', 'the deployed commit, from the output Commit or the log line `started`', 'HEAD')
    .addOption(
      new Option('--of <function>', 'the function that wrote them')
        .choices(['gateway', 'accounts', 'server'])
        .default('gateway'),
    )
    .action(async (file: string, { commit, of }: Options) => {
      const checkout = join(folder, 'checkout');
      const note = await checkOut(root, await findBase(root, commit.replace(/-dirty$/, '')), checkout);
      if (note !== undefined) printError(`Note: ${note}\n`);
      await promisify(execFile)(process.execPath, ['lib/bundle.ts'], { cwd: checkout });
      const { text, unknown } = applyMaps(read(file), join(checkout, 'dist', of));
      print(text.trimEnd());
      if (unknown.length > 0) {
        printError(`${unknown.join(', ')}: not of this build; try another --commit, or --of\n`);
      }
    });
}

/** Positions of a bundle, as stack traces name them: `file:///var/task/index.mjs:1:2345`. */
const position = /(?:file:\/\/)?\/var\/task\/([\w-]+\.m?js):(\d+):(\d+)/g;

/**
 * Replaces the bundle's positions by those of the sources, and names files without a map: they are from another build. The folder
 * has the bundle and its maps.
 */
function applyMaps(text: string, folder: string) {
  const maps = new Map<string, SourceMap | undefined>();
  const mapOf = (file: string) => {
    if (!maps.has(file)) maps.set(file, readMap(join(folder, `${file}.map`)));
    return maps.get(file);
  };
  const applied = text.replace(position, (whole, file: string, line: string, column: string) => {
    const origin = mapOf(file)?.findOrigin(Number(line), Number(column));
    if (origin === undefined || !('fileName' in origin)) return whole;
    return `${origin.fileName.replace(/^(\.\.\/)+/, '')}:${origin.lineNumber}:${origin.columnNumber}`;
  });
  return { text: applied, unknown: [...maps].flatMap(([file, map]) => (map === undefined ? [file] : [])) };
}

function readMap(path: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return undefined;
  }
}
