// npm run pictures: draws the pictures of docs/images anew from the text beside each.
import { writeFileSync } from 'node:fs';
import { drawPictures } from '../operator/pictures/pictures.ts';

for (const [path, svg] of drawPictures()) {
  writeFileSync(path, svg);
  console.log(path);
}
