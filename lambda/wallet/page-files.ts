import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';

export interface PageFile {
  readonly contentType: string;
  /** With placeholders such as `{{service}}` for the facts of a deployment; `{{#window}}…{{/window}}` is for where one holds. */
  readonly text: string;
}

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
};

/**
 * Reads the files of the pages, keyed by the path that serves each, which is its place in the folder. `made` are generated
 * files; there are none if a build has put them into the folder.
 */
export function readPageFiles(
  folder: URL,
  made: ReadonlyMap<string, string> = new Map(),
): ReadonlyMap<string, PageFile> {
  const written = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => extname(name) in contentTypes)
    .map((name) => [name, readFileSync(new URL(name, folder), 'utf8')] as const);
  return new Map(
    [...written, ...made].map(([name, text]) => {
      const contentType = contentTypes[extname(name)] ?? '';
      return [`/${name.replace(/\/?index\.html$/, '')}`, { contentType, text }];
    }),
  );
}
