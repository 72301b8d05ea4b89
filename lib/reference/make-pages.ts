import { readFile } from 'node:fs/promises';
import type { OpenApi } from './openapi.ts';
import { renderReference } from './render-reference.ts';

/** The generated files of the pages, by their place beside the others: they are made from docs/openapi.json. */
export async function makePages(): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
  const document: OpenApi = JSON.parse(text);
  // Its first paragraph is about the file among the sources, and about names that are filled in here.
  const [, ...description] = document.info.description.split('\n\n');
  const served = { ...document, info: { ...document.info, description: description.join('\n\n') } };
  return new Map([
    ['docs/index.html', leavePlaces(renderReference(document))],
    ['docs/openapi.json', leavePlaces(JSON.stringify(served))],
  ]);
}

/** Puts placeholders where deployments differ. */
const leavePlaces = (text: string): string =>
  text
    .replaceAll('X-Svc-', '{{headers}}-')
    .replace(/\bsvc\b/g, '{{service}}')
    .replaceAll('http://127.0.0.1:8787', '{{gateway}}');
