// npm run changelog: writes docs/CHANGELOG.md anew from the commits; with --notes VERSION it prints what it says of that version.
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
