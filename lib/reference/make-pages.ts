import { readFile } from 'node:fs/promises';
import type { OpenApi } from './openapi.ts';
import { renderReference } from './render-reference.ts';

/** The files of the pages that no one wrote, by their place beside the others: they are made of docs/openapi.json. */
export async function makePages(): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
  const document: OpenApi = JSON.parse(text);
  // Its first paragraph speaks of the file's place among the sources, and of names that are filled in here.
  const [, ...description] = document.info.description.split('\n\n');
  const served = { ...document, info: { ...document.info, description: description.join('\n\n') } };
  return new Map([
    ['docs/index.html', leavePlaces(renderReference(document))],
    ['docs/openapi.json', leavePlaces(JSON.stringify(served))],
  ]);
}

/** Opens places for what another deployment calls otherwise. */
const leavePlaces = (text: string): string =>
  text
    .replaceAll('X-Svc-', '{{headers}}-')
    .replace(/\bsvc\b/g, '{{service}}')
    .replaceAll('http://127.0.0.1:8787', '{{gateway}}');
