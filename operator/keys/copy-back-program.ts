import { type Command, Option } from 'commander';
import { addTargetOptions, CommandError, createCommand, type TargetOptions } from '../command-line.ts';
import { read } from './arguments.ts';
import { type Copied, copyBack } from './copy-back.ts';
import { actOn, type Surroundings } from './surroundings.ts';

interface Options extends TargetOptions {
  readonly from: string;
  readonly table: 'keys' | 'quota';
  readonly overwrite?: boolean;
  readonly after?: string;
}

export function createCopyBackProgram(surroundings: Surroundings): Command {
  const { printError, pause } = surroundings;
  return addTargetOptions(createCommand('npm run copy-back --', surroundings))
    .description(
      'Copies the items of a restored table back that a gateway has lost. It may be interrupted, and run again.',
    )
    .requiredOption('--from <table>', 'the restored table', read.table)
    .addOption(
      new Option('--table <which>', 'which of the gateway’s tables').choices(['keys', 'quota']).default('keys'),
    )
    .option('--overwrite', 'replace items too, but none that was revoked or given an end since')
    .option('--after <key>', 'go on after this item, which an earlier run has named')
    .addHelpText('after', '\nExit codes: 0 done, 1 not done, 2 wrong usage.')
    .action(({ from, table, overwrite = false, after, ...options }: Options) =>
      actOn(surroundings, options, async ({ tables }) => {
        if (!tables) throw new CommandError('copy-back is for tables: a folder has backups, as docs/recovery.md says');
        const { documents, keysTable, quotaTable } = tables;
        const onPage = async (progress: Copied) => {
          printError(`${say(progress)}; to go on from here: --after '${progress.last}'\n`);
          await pause();
        };
        const to = table === 'keys' ? keysTable : quotaTable;
        const { last: _, ...done } = await copyBack({ from, to, overwrite, after }, { documents, onPage });
        return { json: { from, to, ...done }, text: `Done: ${say(done)}.` };
      }),
    );
}

const say = ({ read, copied, kept }: Omit<Copied, 'last'>): string =>
  `${read} read, ${copied} copied, ${kept} kept as they are`;
