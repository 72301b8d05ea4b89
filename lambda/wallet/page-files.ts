import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { pagePath } from './site.ts';

export interface PageFile {
  readonly contentType: string;
  readonly text: string;
  /** By which a browser asks whether its copy is still good. */
  readonly etag: string;
}

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Reads the page's files, once for each start: by the path under which each is served. */
export function readPageFiles(folder: URL): ReadonlyMap<string, PageFile> {
  const files = readdirSync(folder).flatMap((name): [string, PageFile][] => {
    const contentType = contentTypes[extname(name)];
    if (contentType === undefined) return [];
    const text = readFileSync(new URL(name, folder), 'utf8');
    const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
    return [[name === 'index.html' ? pagePath : `${pagePath}/${name}`, { contentType, text, etag }]];
  });
  return new Map(files);
}
