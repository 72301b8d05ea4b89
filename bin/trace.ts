import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Option } from 'commander';
import { checkOut, findBase } from '../operator/checkout.ts';
import { createCommand, runProgram, terminal } from '../operator/command-line.ts';

const program = createCommand('npm run trace --', terminal)
  .description('Prints log lines with positions in the sources instead of the bundle. Builds the commit to do so.')
  .argument('[file]', 'the lines; without it, or with -, standard input', '-')
  .option('--commit <commit>', 'the deployed commit, from the output Commit or the log line `started`', 'HEAD')
  .addOption(
    new Option('--of <function>', 'the function that wrote them')
      .choices(['gateway', 'accounts', 'server'])
      .default('gateway'),
  )
  .action(async (file: string, options: { commit: string; of: string }) => {
    const { commit } = await findBase(process.cwd(), options.commit.replace(/-dirty$/, ''));
    await using checkout = await checkOut(process.cwd(), commit);
    if (checkout.note !== undefined) console.error(`Note: ${checkout.note}`);
    await promisify(execFile)(process.execPath, ['lib/bundle.ts', options.of], { cwd: checkout.folder });
    const lines = readFileSync(file === '-' ? process.stdin.fd : file, 'utf8');
    const { text, unknown } = applyMaps(lines, join(checkout.folder, 'dist', options.of));
    terminal.print(text.trimEnd());
    if (unknown.length > 0) console.error(`${unknown.join(', ')}: not of this build; try another --commit, or --of`);
  });
await runProgram(program);

/** Maps positions in a bundle (`file:///var/task/index.mjs:1:2345`) back to the sources. Names the files without a source map. */
function applyMaps(text: string, folder: string) {
  const maps = new Map<string, SourceMap | undefined>();
  const position = /(?:file:\/\/)?\/var\/task\/([\w-]+\.m?js):(\d+):(\d+)/g;
  const applied = text.replace(position, (whole, file: string, line: string, column: string) => {
    if (!maps.has(file)) maps.set(file, readMap(join(folder, `${file}.map`)));
    const origin = maps.get(file)?.findOrigin(Number(line), Number(column));
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
