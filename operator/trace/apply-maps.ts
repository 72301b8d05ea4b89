import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join } from 'node:path';

export interface Applied {
  readonly text: string;
  /** Files without a map: they are from another build. */
  readonly unknown: readonly string[];
}

/** Positions of a bundle, as stack traces name them: `file:///var/task/index.mjs:1:2345`. */
const position = /(?:file:\/\/)?\/var\/task\/([\w-]+\.m?js):(\d+):(\d+)/g;

/** Replaces the bundle's positions by those of the sources. The folder has the bundle and its maps. */
export function applyMaps(text: string, folder: string): Applied {
  const maps = new Map<string, SourceMap | undefined>();
  const mapOf = (file: string) => {
    if (!maps.has(file)) maps.set(file, readMap(join(folder, `${file}.map`)));
    return maps.get(file);
  };
  const applied = text.replace(position, (whole, file: string, line: string, column: string) => {
    const origin = mapOf(file)?.findOrigin(Number(line), Number(column));
    if (origin === undefined || !('fileName' in origin)) return whole;
    return `${origin.fileName.replace(/^(\.\.\/)+/, '')}:${origin.lineNumber}:${origin.columnNumber}`;
  });
  return { text: applied, unknown: [...maps].flatMap(([file, map]) => (map === undefined ? [file] : [])) };
}

function readMap(path: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return undefined;
  }
}
