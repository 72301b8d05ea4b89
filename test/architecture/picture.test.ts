import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { readSources } from '../support/imports.ts';

const [, picture = ''] = /```mermaid\n(flowchart TD.+?)```/s.exec(readFileSync('docs/CONTRIBUTING.md', 'utf8')) ?? [];

/** The diagram's arrows, as pairs of rooms. */
const arrows = picture
  .replaceAll(/\[".*?"\]/g, '')
  .split('\n')
  .filter((line) => line.includes('-->'))
  .flatMap((line) => {
    const [from = [], to = []] = line.split('-->').map((side) => side.split('&').map((name) => name.trim()));
    return from.flatMap((one) => to.map((other) => `${one} --> ${other}`));
  });

/** All rooms that can be reached from a room by the arrows. */
function reachedFrom(room: string, reached = new Set<string>()): ReadonlySet<string> {
  for (const [from, to = ''] of arrows.map((arrow) => arrow.split(' --> '))) {
    if (from !== room || reached.has(to)) continue;
    reached.add(to);
    reachedFrom(to, reached);
  }
  return reached;
}

/** A file's room, as the diagram names it; undefined for shared files. */
function roomOf(path: string): string | undefined {
  const [top, room = '', file] = path.split('/');
  if (top !== 'lambda') return undefined;
  if (file !== undefined) return room;
  if (['index.ts', 'server.ts', 'serve.ts', 'gateway.ts'].includes(room)) return 'entries';
  return room === 'app.ts' ? 'app' : undefined;
}

test('CONTRIBUTING.md draws an arrow for each import from another room, or arrows that lead there, and no other', () => {
  const imported = new Set(
    readSources(process.cwd(), ['lambda']).flatMap(({ path, imports }) => {
      const from = roomOf(path);
      const rooms = imports.map(roomOf).filter((to) => to !== undefined && to !== from);
      return from === undefined ? [] : rooms.map((to) => `${from} --> ${to}`);
    }),
  );
  const isDrawn = (from = '', to = '') => reachedFrom(from).has(to);
  expect(arrows.length).toBeGreaterThan(25);
  expect(arrows.filter((arrow) => !imported.has(arrow))).toEqual([]);
  expect([...imported].filter((one) => !isDrawn(...one.split(' --> ')))).toEqual([]);
});
