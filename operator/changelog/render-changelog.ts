import type { Release } from './read-history.ts';

/** The headings of changes that users and operators notice, by kind of commit. */
const headings = { feat: 'New', fix: 'Fixed', perf: 'Faster' } as const;

/** What changed in each release, for people; the first one has nothing to fix that anyone had. */
export function renderChangelog(releases: readonly Release[]): string {
  const sections = releases.map(({ version, date, subjects }, index) => {
    const isFirst = index === releases.length - 1;
    const kinds = Object.entries(headings).filter(([kind]) => kind === 'feat' || !isFirst);
    const parts = kinds.flatMap(([kind, heading]) => {
      const changes = subjects.flatMap((subject) => changeIn(subject, kind) ?? []);
      return changes.length > 0 ? [`### ${heading}\n\n${changes.map((change) => `- ${change}`).join('\n')}`] : [];
    });
    return [`## ${version}, ${date}`, ...(parts.length > 0 ? parts : ['Nothing that users notice.'])].join('\n\n');
  });
  return `# What changed\n\n${sections.join('\n\n')}\n`;
}

/** What a subject says of a change of this kind; `!` marks what breaks something. */
function changeIn(subject: string, kind: string): string | undefined {
  const [, found, breaks, text] = /^(\w+)(?:\([^)]*\))?(!?): (.+)$/.exec(subject) ?? [];
  if (found !== kind || text === undefined) return undefined;
  return breaks === '!' ? `**breaking**: ${text}` : text;
}

/** The part of a changelog that is about one version. */
export function notesOf(changelog: string, version: string): string {
  const section = changelog.split(/^(?=## )/m).find((part) => part.startsWith(`## ${version},`));
  if (section === undefined) throw new Error(`docs/CHANGELOG.md has nothing about ${version}: npm run changelog`);
  return `${section.split('\n').slice(1).join('\n').trim()}\n`;
}
