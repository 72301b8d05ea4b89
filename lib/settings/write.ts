import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { renderPage } from './render-page.ts';
import { renderSchema } from './render-schema.ts';

const root = join(import.meta.dirname, '../..');

/** The files that are generated from the settings' definitions. Each generator gets the file's current text. */
export const madeFromSettings: Readonly<Record<string, (text: string) => string>> = {
  'docs/settings.md': renderPage,
  'docs/gateway.schema.json': renderSchema,
};

if (import.meta.main) {
  new Command('npm run settings --')
    .description(
      'Generates the tables of docs/settings.md and docs/gateway.schema.json from the definitions of the settings.',
    )
    .parse();
  for (const [path, render] of Object.entries(madeFromSettings)) {
    const file = join(root, path);
    writeFileSync(file, render(readFileSync(file, 'utf8')));
  }
}
