// npm run cost: computes what the gateway costs, and writes it into docs/costs.md, docs/scaling.md and the picture there.
// With --web P,M,R it prints what the web engine costs at these prices instead, and writes nothing.
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { blocks } from '../operator/cost/blocks.ts';
import { documents, picture, renderDocument } from '../operator/cost/documents.ts';
import { renderWithPrices } from '../operator/cost/engine-blocks.ts';
import { plotCosts } from '../operator/cost/plot.ts';

const usage = `npm run cost                  computes all, and writes it into the docs
npm run cost -- --web P,M,R   what the web engine costs at these prices, in dollars: a processor second, a GB-second of memory,
                              a million requests, such as 0.00005,0.000004,0.2`;

const web = readWords();
if (web === undefined) {
  for (const path of documents) writeFileSync(path, renderDocument(readFileSync(path, 'utf8')));
  writeFileSync(picture, plotCosts());
  for (const block of Object.values(blocks)) console.log(`${block()}\n`);
  console.log(`written: ${[...documents, picture].join(', ')}`);
} else {
  const [processorSecond = Number.NaN, gigabyteSecond = Number.NaN, millionRequests = Number.NaN, ...more] = web
    .split(',')
    .map((price) => (/^\d*\.?\d+$/.test(price.trim()) ? Number(price) : Number.NaN));
  if (more.length > 0 || Number.isNaN(processorSecond + gigabyteSecond + millionRequests)) refuse();
  console.log(renderWithPrices({ processorSecond, gigabyteSecond, millionRequests }));
}

function readWords(): string | undefined {
  try {
    return parseArgs({ options: { web: { type: 'string' } } }).values.web;
  } catch {
    return refuse();
  }
}

function refuse(): never {
  console.error(usage);
  process.exit(2);
}
