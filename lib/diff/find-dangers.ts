import type { Comparison } from './compare-templates.ts';
import { type Danger, judgePart } from './judge-part.ts';
import { comparePermissions } from './permissions.ts';
import { partsOf } from './template.ts';

/**
 * What a reviewer must not overlook: every guarantee of the gateway that the new template breaks, whichever line did it; every
 * permission that is added or lost; and every change that is not known to be harmless.
 */
export function findDangers({ before, after, resources }: Comparison): readonly Danger[] {
  const old = new Map(partsOf(before).map((part) => [part.id, part]));
  const current = new Map(partsOf(after).map((part) => [part.id, part]));
  const replaced = new Map(resources.map((change) => [change.id, change.replaced]));
  const ids = new Set([...old.keys(), ...current.keys()]);
  const { widened, narrowed } = comparePermissions(before, after);
  return [
    ...[...ids].flatMap((id) =>
      judgePart({ was: old.get(id), is: current.get(id), replaced: replaced.get(id) ?? 'no', before, after }),
    ),
    ...widened.map((what) => ({ refused: false, where: 'permissions', what: `widens a permission: ${what}` })),
    ...narrowed.map((what) => ({ refused: false, where: 'permissions', what: `takes a permission away: ${what}` })),
  ];
}
