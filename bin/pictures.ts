// npm run pictures: redraws the pictures in docs/images from the text beside each.
import { writeFileSync } from 'node:fs';
import { drawPictures } from '../operator/pictures/pictures.ts';

for (const [path, svg] of drawPictures()) {
  writeFileSync(path, svg);
  console.log(path);
}
