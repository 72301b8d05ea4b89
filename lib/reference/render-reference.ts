import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { code, escapeHtml, opening, paragraph, prose } from './html.ts';
import { type Endpoint, listEndpoints, type OpenApi, readOpenApi, type Schema } from './openapi.ts';
import { fields, renderEndpoint, renderErrors, renderFields, renderType } from './render-parts.ts';

const page = readFileSync(new URL('page.html', import.meta.url), 'utf8');

/** Renders the API reference from its OpenAPI document, into the placeholder comments of page.html. It needs no JavaScript. */
export function renderReference(document: OpenApi): string {
  // What people come for is first.
  const { POST = [], GET = [] } = Object.groupBy(listEndpoints(document), ({ method }) => method);
  const endpoints = [...POST, ...GET];
  const parts: Readonly<Record<string, string | readonly string[]>> = {
    contents: endpoints.map(
      ({ operation: { operationId, summary } }) => `<li><a href="#${operationId}">${escapeHtml(summary)}</a></li>`,
    ),
    routes: renderRoutes(endpoints),
    keys: renderKeys(document),
    endpoints: endpoints.map((endpoint, place) => renderEndpoint(document, endpoint, place === 0)),
    headers: renderHeaders(document),
    errors: renderErrors(document),
    objects: Object.entries(document.components.schemas).map(([name, schema]) => renderObject(document, name, schema)),
    version: escapeHtml(document.info.version),
  };
  return page.replace(/<!-- (\w+) -->/g, (_, name) => [parts[name]].flat().join('\n'));
}

function renderRoutes(endpoints: readonly Endpoint[]): string {
  const items = endpoints.map(
    ({ method, path, operation }) =>
      `<li><a href="#${operation.operationId}"><span class="method">${method}</span> ${code(path)}</a></li>`,
  );
  return `<ul class="routes">${items.join('')}</ul>`;
}

const renderKeys = ({ components }: OpenApi): string =>
  fields(
    Object.values(components.securitySchemes).map((scheme) => [
      code(scheme.type === 'apiKey' ? `${scheme.name}: KEY` : 'Authorization: Bearer KEY'),
      prose(scheme.description),
    ]),
  );

/** Each response header once. Those for browsers come last. */
function renderHeaders(document: OpenApi): string {
  const responses = listEndpoints(document).flatMap(({ operation }) => Object.values(operation.responses));
  const headers = responses.flatMap((response) => Object.entries(response.headers));
  const described = Map.groupBy(
    headers.filter(([, { description = '' }]) => description !== ''),
    ([name]) => name,
  );
  const isForBrowsers = (name: string) => /^(access-control-|vary$)/.test(name);
  const names = [...described.keys()];
  const ordered = [...names.filter((name) => !isForBrowsers(name)), ...names.filter(isForBrowsers)];
  return fields(ordered.map((name) => [code(name), prose(described.get(name)?.[0]?.[1].description)]));
}

function renderObject(document: OpenApi, name: string, schema: Schema): string {
  const choices = schema.oneOf?.map(renderType).join(' or ');
  const plain = schema.enum || (schema.type && !schema.properties) ? renderType(schema) : '';
  const meaning = choices || plain ? `<p>${choices ?? plain}</p>` : '';
  const content = `${paragraph(schema.description)}${meaning}${renderFields(document, schema)}`;
  return opening(name, `<h3>${escapeHtml(name)}</h3>`, content);
}

/** The generated pages, by path: from docs/openapi.json. */
export async function makePages(): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
  const served = JSON.parse(text);
  // Its first paragraph is about the source file, and about names that are filled in here.
  served.info.description = served.info.description.split('\n\n').slice(1).join('\n\n');
  return new Map([
    ['docs/index.html', leavePlaces(renderReference(readOpenApi(text)))],
    ['docs/openapi.json', leavePlaces(JSON.stringify(served))],
  ]);
}

/** Puts placeholders where deployments differ. */
const leavePlaces = (text: string): string =>
  text
    .replaceAll('X-Svc-', '{{headers}}-')
    .replace(/\bsvc\b/g, '{{service}}')
    .replaceAll('http://127.0.0.1:8787', '{{gateway}}');
