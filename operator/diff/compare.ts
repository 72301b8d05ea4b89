import { compareTemplates } from '../../lib/diff/changes.ts';
import { findDangers } from '../../lib/diff/judge.ts';
import type { Template } from '../../lib/diff/template.ts';
import { checkOut, findBase, hasStage, placeSettings } from '../checkout.ts';
import { renderComparison, renderDanger } from './render-comparison.ts';
import { readTemplates, synthesize } from './synthesize.ts';

export interface Wanted {
  readonly stage: string;
  /** A commit. */
  readonly base?: string;
  /** The file of deployed settings, if the base has none or different ones. */
  readonly settings?: string;
  /** The folder of templates to compare instead of those of the working tree. */
  readonly synthesized?: string;
}

interface Compared {
  /** The exit code: see the command's help. */
  readonly status: number;
  /** What was compared with what. */
  readonly title: string;
  readonly lines: readonly string[];
}

/** The templates of a stage that was never deployed. */
const nothing: Readonly<Record<string, Template>> = {};

/** What deploying the working tree in this folder would change, compared with a commit. */
export async function compare(root: string, { stage, base: wanted, settings, synthesized }: Wanted): Promise<Compared> {
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
      : synthesize(base.folder, stage).catch((error: Error) => {
          // Two syntheses run, so an error must say which one failed.
          throw new Error(`The base (${name}) can't be synthesized:\n${error.message}`);
        }),
  ]);
  const comparisons = Object.keys({ ...before, ...after }).map((file) =>
    compareTemplates(before[file] ?? {}, after[file] ?? {}),
  );
  const dangers = findDangers(...comparisons);
  const notes = [
    base.note,
    uncompared,
    isNew ? 'the stage is new: deploying it makes a stack of its own, with empty tables' : undefined,
  ];
  const changes = [...dangers.map(renderDanger), ...comparisons.flatMap(renderComparison)];
  const none = uncompared === undefined ? 'No changes' : 'No changes apart from the settings, which were not compared';
  const found = dangers.length > 0 ? 2 : 0;
  const what = isFromTree ? 'the working tree' : `the templates in ${synthesized}`;
  return {
    status: dangers.some(({ refused }) => refused) ? 3 : uncompared === undefined ? found : 4,
    title: `Stage ${stage}: ${what} against ${name} (${commit.slice(0, 7)})`,
    lines: [
      ...notes.filter((note) => note !== undefined).map((note) => `Note: ${note}`),
      ...(changes.length > 0 ? changes : [none]),
    ],
  };
}
