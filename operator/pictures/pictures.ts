import { readdirSync, readFileSync } from 'node:fs';
import { drawPicture } from './draw-picture.ts';
import { readPicture } from './read-picture.ts';

const folder = 'docs/images';

/** Every picture drawn from text: the SVG of its current source, by its path. */
export function drawPictures(): ReadonlyMap<string, string> {
  const sources = readdirSync(folder).filter((name) => name.endsWith('.picture'));
  return new Map(
    sources.map((name) => {
      const path = `${folder}/${name}`;
      return [path.replace(/picture$/, 'svg'), drawPicture(readPicture(readFileSync(path, 'utf8')))];
    }),
  );
}
