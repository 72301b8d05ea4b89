import { type SourceFile, toSource } from '../support/imports.ts';

/** The unit and integration tests whose imports lead to a file: its own first, then the nearest. */
export function findRelatedTests(sources: readonly Pick<SourceFile, 'path' | 'text'>[], path: string): string[] {
  const importers = new Map<string, string[]>();
  for (const source of sources) {
    // Imports of types run nothing.
    const text = source.text.replace(/^(import|export) type [^;]*;/gm, '');
    for (const target of toSource(source.path, text).imports) {
      importers.set(target, [...(importers.get(target) ?? []), source.path]);
    }
  }
  const distances = new Map([[path, 0]]);
  for (const [reached, distance] of distances) {
    for (const importer of importers.get(reached) ?? []) {
      if (!distances.has(importer)) distances.set(importer, distance + 1);
    }
  }
  const mirrored = `test/${path.replace(/\.ts$/, '.')}`;
  const rank = (test: string): [boolean, number, boolean, number] => [
    !test.startsWith(mirrored),
    distances.get(test) ?? 0,
    !test.includes('.unit.'),
    -sharedFolders(test, mirrored),
  ];
  return [...distances.keys()]
    .filter((reached) => /\.(unit|integration)\.test\.ts$/.test(reached))
    .sort((a, b) => compare(rank(a), rank(b)) || (a < b ? -1 : 1));
}

function sharedFolders(a: string, b: string): number {
  const [one, other] = [a.split('/'), b.split('/')];
  const parted = one.findIndex((folder, index) => folder !== other[index]);
  return parted < 0 ? one.length : parted;
}

function compare(a: readonly (number | boolean)[], b: readonly (number | boolean)[]): number {
  for (const [index, one] of a.entries()) {
    const difference = Number(one) - Number(b[index]);
    if (difference !== 0) return difference;
  }
  return 0;
}
