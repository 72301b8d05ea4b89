// npm run changelog: renews docs/CHANGELOG.md from the commits. With --notes VERSION it prints that version's part.
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readHistory } from '../operator/changelog/read-history.ts';
import { notesOf, renderChangelog } from '../operator/changelog/render-changelog.ts';

const path = 'docs/CHANGELOG.md';
const { values } = parseArgs({ options: { notes: { type: 'string' } } });
if (values.notes !== undefined) process.stdout.write(notesOf(readFileSync(path, 'utf8'), values.notes));
else {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  writeFileSync(path, renderChangelog(readHistory(process.cwd(), version)));
}
