// npm run cost: computes what the gateway costs, and writes it into docs/costs.md, docs/scaling.md and the picture there.
import { readFileSync, writeFileSync } from 'node:fs';
import { blocks } from '../operator/cost/blocks.ts';
import { documents, picture, renderDocument } from '../operator/cost/documents.ts';
import { plotCosts } from '../operator/cost/plot.ts';

for (const path of documents) writeFileSync(path, renderDocument(readFileSync(path, 'utf8')));
writeFileSync(picture, plotCosts());
for (const block of Object.values(blocks)) console.log(`${block()}\n`);
console.log(`written: ${[...documents, picture].join(', ')}`);
