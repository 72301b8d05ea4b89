import type { Change, Comparison, ResourceChange } from '../../lib/diff/changes.ts';
import type { Danger } from '../../lib/diff/judge.ts';

export const renderDanger = ({ refused, where, what }: Danger): string =>
  `!! ${refused ? 'REFUSED' : 'DANGER'} ${where}: ${what}`;

/**
 * One line per changed value, with all resources that have it. Marked `+`, `-` and `~` for a ```diff block, like the dangers
 * above.
 */
export function renderComparison({ resources, others }: Comparison): string[] {
  const changed = new Map<string, string[]>();
  for (const { where, what } of resources.flatMap(listChanges)) {
    changed.set(what, [...(changed.get(what) ?? []), where]);
  }
  return [
    ...resources.flatMap(renderWhole),
    ...[...changed].map(([what, places]) => `~ ${places.join(', ')}: ${what}`),
    ...others.map((change) => `~ ${renderChange(change)}`),
  ];
}

function renderWhole({ name, type, kind }: ResourceChange): string[] {
  return kind === 'changed' ? [] : [`${kind === 'added' ? '+' : '-'} ${name} (${type})`];
}

function listChanges({ name, kind, replaced, changes }: ResourceChange) {
  if (kind !== 'changed') return [];
  const mark = { yes: ' (replaced)', maybe: ' (may be replaced)', no: '' }[replaced];
  return changes.map((change) => ({ where: name + mark, what: renderChange(change) }));
}

function renderChange({ path, before, after }: Change): string {
  const [old, current] = [before, after].map(renderValue) as [string, string];
  if (old.length <= longest && current.length <= longest) return `${path} ${old} -> ${current}`;
  let start = 0;
  while (start < old.length && old[start] === current[start]) start += 1;
  const from = Math.max(0, start - kept);
  const cut = (text: string) =>
    `${from > 0 ? '…' : ''}${text.slice(from, from + longest)}${text.length > from + longest ? '…' : ''}`;
  return `${path} ${cut(old)} -> ${cut(current)}`;
}

function renderValue(value: unknown): string {
  return value === undefined ? 'none' : JSON.stringify(value).replace(/[0-9a-f]{56}(?=\.zip)/g, '…');
}

/** A longer value is cut to where it first differs, with some context before that. */
const longest = 80;
const kept = 30;
