// npm run cost: computes what the gateway costs at list prices, and writes it into docs/hosting.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { renderDocument } from '../operator/cost/blocks.ts';

const path = 'docs/hosting.md';
writeFileSync(path, renderDocument(readFileSync(path, 'utf8')));
console.log(`written: ${path}`);
