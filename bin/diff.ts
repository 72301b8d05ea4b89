import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { defaultStage } from '../lib/deployment-block.ts';
import { checkOut, findBase, hasStage } from '../lib/diff/base-checkout.ts';
import { compareTemplates, type Template } from '../lib/diff/compare-templates.ts';
import { findDangers } from '../lib/diff/find-dangers.ts';
import { renderComparison } from '../lib/diff/render-comparison.ts';
import { synthesize } from '../lib/diff/synthesize.ts';

const usage = `npm run diff -- [--stage ${defaultStage}] [--base REF]

What deploying the working tree would change in the infrastructure, against a commit; offline.
Without --base: where this branch left origin/main, or else the last commit.

Ends with 0 where nothing dangerous changes, 1 where it could not tell, 2 where there is a danger (marked !!) that somebody
has to agree to, 3 where there is a change that is refused.`;

const nothing: Readonly<Record<string, Template>> = {};

const exitCodes = { fine: 0, failed: 1, danger: 2, refused: 3 };

/** Compares and prints; gives the exit code. */
async function main(root: string, folder: string): Promise<number> {
  const { values } = parseArgs({
    options: { stage: { type: 'string' }, base: { type: 'string' }, help: { type: 'boolean' } },
  });
  if (values.help) {
    console.log(usage);
    return exitCodes.fine;
  }
  const stage = values.stage ?? defaultStage;
  const base = await findBase(root, values.base);
  const baseFolder = join(folder, 'base');
  const note = await checkOut(root, base, baseFolder);
  const isNew = !(await hasStage(baseFolder, stage));
  const [after, before] = await Promise.all([
    synthesize(root, stage, join(folder, 'after')),
    isNew ? nothing : synthesize(baseFolder, stage, join(folder, 'before')).catch(naming(base.name)),
  ]);
  const files = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const compared = files.map((file) => {
    const comparison = compareTemplates(before[file] ?? {}, after[file] ?? {});
    return { comparison, dangers: findDangers(comparison) };
  });
  const lines = compared.flatMap(({ comparison, dangers }) => renderComparison(comparison, dangers));
  console.log(`Stage ${stage}: the working tree against ${base.name} (${base.commit.slice(0, 7)})`);
  if (note !== undefined) console.log(`Note: ${note}`);
  if (isNew) console.log('Note: the stage is new, and so is all of it');
  console.log(lines.length > 0 ? lines.join('\n') : 'No changes');
  const dangers = compared.flatMap((one) => one.dangers);
  if (dangers.some(({ refused }) => refused)) return exitCodes.refused;
  return dangers.length > 0 ? exitCodes.danger : exitCodes.fine;
}

/** Two syntheses run: says of which one an error is. */
function naming(base: string) {
  return (error: unknown): never => {
    throw new Error(`The base (${base}) can't be synthesized:\n${messageOf(error)}`);
  };
}

/** A command that failed has said why on its own standard error, which its error carries. */
function messageOf(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  return said || (error instanceof Error ? error.message : String(error));
}

const folder = await mkdtemp(join(tmpdir(), 'gateway-diff-'));
try {
  process.exitCode = await main(process.cwd(), folder);
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = exitCodes.failed;
} finally {
  await rm(folder, { recursive: true, force: true });
}
