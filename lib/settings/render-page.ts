import { type Described, describedSettings } from './described.ts';

/** A table with the comment before it, which names the sections to list. */
const marked = /^(<!-- settings: (\S.*) -->)\n(?:\n(?:\|.*\n)+)?/gm;

/** Regenerates the tables of the settings page. All else stays as it is. */
export function renderPage(page: string): string {
  const shown: string[] = [];
  const rendered = page.replace(marked, (_, comment: string, names: string) => {
    const sections = names.split(', ');
    shown.push(...sections);
    return `${comment}\n\n${renderTable(sections.flatMap(settingsOf))}`;
  });
  const wrong = [...describedSettings.keys()].filter((name) => shown.filter((one) => one === name).length !== 1);
  if (wrong.length > 0) throw new Error(`docs/settings.md must show each section once, but not so ${wrong.join(', ')}`);
  return rendered;
}

function settingsOf(section: string): readonly Described[] {
  const settings = describedSettings.get(section);
  if (settings === undefined) throw new Error(`docs/settings.md shows ${section}, but no settings have this section`);
  return settings;
}

function renderTable(settings: readonly Described[]): string {
  const rows = settings.map((one) => `| \`${one.name}\` | ${renderValues(one)} | ${one.description} |\n`);
  return `| Setting | Default | Meaning |\n|---|---|---|\n${rows.join('')}`.replaceAll('|  |', '| |');
}

/** The default, and the other choices. */
function renderValues({ setting: { fallback, schema } }: Described): string {
  if (!fallback) return '';
  const others = (schema?.enum ?? []).filter((value) => typeof value === 'string' && value !== fallback);
  return [fallback, others.join('`, `')]
    .filter((text) => text !== '')
    .map((text) => `\`${text}\``)
    .join(', or ');
}
