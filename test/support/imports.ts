import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

export interface SourceFile {
  /** Relative to the project's root, with forward slashes. */
  readonly path: string;
  readonly text: string;
  /** Imported files of the project by path, and packages by name. */
  readonly imports: readonly string[];
}

/** The TypeScript files below some folders, with their imports. */
export function readSources(root: string, folders: readonly string[]): SourceFile[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts') && !name.includes('node_modules'))
      .map((name) => join(root, folder, name))
      .map((file) => toSource(relative(root, file), readFileSync(file, 'utf8'))),
  );
}

export function toSource(path: string, text: string): SourceFile {
  const specifiers = [...text.matchAll(/(?:^|\s)(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1] ?? '');
  return { path, text, imports: specifiers.map((name) => (name.startsWith('.') ? join(dirname(path), name) : name)) };
}

/** Each import cycle once, as its files. */
export function findCircles(sources: readonly SourceFile[]): string[][] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const done = new Set<string>();
  const circles: string[][] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) circles.push([...trail.slice(trail.indexOf(path)), path]);
    const source = byPath.get(path);
    if (trail.includes(path) || done.has(path) || !source) return;
    for (const target of source.imports) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const { path } of sources) visit(path, []);
  return circles;
}
