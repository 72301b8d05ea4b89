import { globSync, readFileSync, statSync } from 'node:fs';
import { relative } from 'node:path';
import { createRandom } from '../support/random.ts';
import { type Defect, findDefects } from './defects.ts';

/** A defect and its place. */
export interface Candidate {
  readonly path: string;
  readonly defect: Defect;
  /** For example `lambda/app.ts:12:7  a < b -> a <= b`. */
  readonly name: string;
}

/** The defects of a file or a folder, or a sample of them drawn by a seed. */
export function listCandidates(given: string, sample: number | undefined, seed: number): Candidate[] {
  const path = relative(process.cwd(), given);
  const files = statSync(path).isDirectory() ? globSync(`${path}/**/*.ts`).sort() : [path];
  const all = files.flatMap((file) => candidatesIn(file, readFileSync(file, 'utf8')));
  if (sample === undefined || sample >= all.length) return all;
  const random = createRandom(seed);
  const chosen = new Set<number>();
  while (chosen.size < sample) chosen.add(random.below(all.length));
  return all.filter((_, index) => chosen.has(index));
}

export function candidatesIn(path: string, source: string): Candidate[] {
  return findDefects(source).map((defect) => ({ path, defect, name: nameOf(path, source, defect) }));
}

function nameOf(path: string, source: string, { start, end, text }: Defect): string {
  const before = source.slice(0, start);
  const column = start - before.lastIndexOf('\n');
  const place = `${path}:${before.split('\n').length}:${column}`;
  const removed = shorten(source.slice(start, end));
  return text === '' || text === ';' ? `${place}  ${removed} dropped` : `${place}  ${removed} -> ${text}`;
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
