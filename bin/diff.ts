import { CommanderError } from 'commander';
import { defaultStage } from '../lib/deployment-block.ts';
import { createCommand, terminal } from '../operator/command-line.ts';
import { compare, type Wanted } from '../operator/diff/compare.ts';

const program = createCommand('npm run diff --', terminal)
  .description(
    'Shows what deploying the working tree would change in the infrastructure, compared with a commit. Works offline.',
  )
  .option('--stage <name>', 'the stage of cdk.json or gateway.json', defaultStage)
  .option('--base <commit>', 'the commit to compare with (default: the merge base with origin/main, or else HEAD)')
  .option('--settings <file>', 'the deployed gateway.json, if that commit has none or a different one')
  .option(
    '--synthesized <folder>',
    'templates that "cdk synth --output FOLDER" has written, instead of the working tree, so that the code of this checkout judges those of another one',
  )
  .addHelpText(
    'after',
    '\nExit codes: 0 no dangerous changes, 1 failure, 2 a danger (marked !!) that needs approval, 3 a change that is refused,\n4 the settings could not be compared, so some dangers may be missing.',
  )
  .action(async (wanted: Wanted) => {
    const { status, title, lines } = await compare(process.cwd(), wanted);
    terminal.print([title, ...lines].join('\n'));
    process.exitCode = status;
  });

try {
  await program.parseAsync();
} catch (error) {
  const isUsage = error instanceof CommanderError;
  // Commander has already printed the usage error.
  if (!isUsage) terminal.printError(`${messageOf(error)}\n`);
  process.exitCode = isUsage && error.exitCode === 0 ? 0 : 1;
}

/** A failed child process explains itself on stderr, which its error carries. */
function messageOf(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  return said || (error instanceof Error ? error.message : String(error));
}
