import { CommanderError } from 'commander';
import { defaultStage } from '../lib/deployment-block.ts';
import { compareTemplates } from '../lib/diff/changes.ts';
import { findDangers } from '../lib/diff/judge.ts';
import { checkOut, findBase, hasStage, placeSettings } from '../operator/checkout.ts';
import { createCommand, terminal } from '../operator/command-line.ts';
import { renderComparison, renderDanger } from '../operator/diff/render-comparison.ts';
import { readTemplates, synthesize } from '../operator/diff/synthesize.ts';

/** The templates of a stage that was never deployed. */
const nothing: Awaited<ReturnType<typeof synthesize>> = {};

interface Options {
  readonly stage: string;
  readonly base?: string;
  readonly settings?: string;
  readonly synthesized?: string;
}

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
  .action(async (options: Options) => {
    process.exitCode = await compare(options);
  });

try {
  await program.parseAsync();
} catch (error) {
  const isUsage = error instanceof CommanderError;
  // Commander has already printed the usage error.
  if (!isUsage) terminal.printError(`${messageOf(error)}\n`);
  process.exitCode = isUsage && error.exitCode === 0 ? 0 : 1;
}

async function compare({ stage, base: wanted, settings, synthesized }: Options): Promise<number> {
  const root = process.cwd();
  const { commit, name } = await findBase(root, wanted);
  await using base = await checkOut(root, commit);
  const isFromTree = synthesized === undefined;
  const uncompared =
    isFromTree || settings ? await placeSettings(root, { folder: base.folder, commit, name }, settings) : undefined;
  const isNew = !hasStage(base.folder, stage);
  const [after, before] = await Promise.all([
    isFromTree ? synthesize(root, stage) : readTemplates(synthesized),
    isNew
      ? nothing
      : synthesize(base.folder, stage).catch((error: unknown) => {
          // Two syntheses run, so an error must say which one failed.
          throw new Error(`The base (${name}) can't be synthesized:\n${messageOf(error)}`);
        }),
  ]);
  const comparisons = Object.keys({ ...before, ...after }).map((file) =>
    compareTemplates(before[file] ?? {}, after[file] ?? {}),
  );
  const dangers = findDangers(...comparisons);
  const lines = [...dangers.map(renderDanger), ...comparisons.flatMap(renderComparison)];
  const what = isFromTree ? 'the working tree' : `the templates in ${synthesized}`;
  console.log(`Stage ${stage}: ${what} against ${name} (${commit.slice(0, 7)})`);
  const notes = [
    base.note,
    uncompared,
    isNew ? 'the stage is new: deploying it makes a stack of its own, with empty tables' : undefined,
  ];
  for (const note of notes) if (note !== undefined) console.log(`Note: ${note}`);
  const none = uncompared === undefined ? 'No changes' : 'No changes apart from the settings, which were not compared';
  terminal.print(lines.length > 0 ? lines.join('\n') : none);
  if (dangers.some(({ refused }) => refused)) return 3;
  return uncompared === undefined ? (dangers.length > 0 ? 2 : 0) : 4;
}

/** A failed child process explains itself on stderr, which its error carries. */
function messageOf(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  return said || (error instanceof Error ? error.message : String(error));
}
