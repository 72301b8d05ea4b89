import type { Change, Comparison, ResourceChange } from '../../lib/diff/changes.ts';
import type { Danger } from '../../lib/diff/judge.ts';

/** The lines that a reviewer reads: dangers first, then a line for each value that changes. They suit a ```diff block, too. */
export function renderComparison({ resources, others }: Comparison, dangers: readonly Danger[]): string[] {
  const warnings = dangers.map(({ refused, where, what }) => `!! ${refused ? 'REFUSED' : 'DANGER'} ${where}: ${what}`);
  const lines = [...resources.flatMap(renderResource), ...others.map((change) => `~ ${renderChange(change)}`)];
  return [...warnings, ...lines];
}

function renderResource({ name, type, kind, replaced, changes }: ResourceChange): string[] {
  if (kind === 'added') return [`+ ${name} (${type})`];
  if (kind === 'removed') return [`- ${name} (${type})`];
  const mark = { yes: ' (replaced)', maybe: ' (may be replaced)', no: '' }[replaced];
  return changes.map((change) => `~ ${name}${mark}: ${renderChange(change)}`);
}

function renderChange({ path, before, after }: Change): string {
  const [old, current] = shorten(renderValue(before), renderValue(after));
  return `${path} ${old} -> ${current}`;
}

function renderValue(value: unknown): string {
  return value === undefined ? 'none' : JSON.stringify(value).replace(/[0-9a-f]{56}(?=\.zip)/g, '…');
}

const longest = 100;
const kept = 30;

/** The part in which two long texts differ, with a little of both sides. */
function shorten(before: string, after: string): [string, string] {
  if (before.length <= longest && after.length <= longest) return [before, after];
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const cut = (text: string) => {
    const from = Math.max(0, start - kept);
    const to = Math.min(text.length, text.length - end + kept);
    const middle = text.slice(from, Math.min(to, from + 3 * longest));
    return `${from > 0 ? '…' : ''}${middle}${from + middle.length < text.length ? '…' : ''}`;
  };
  return [cut(before), cut(after)];
}
