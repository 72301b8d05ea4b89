import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { featureOf, featuresOfSchemas, where, writeDocument } from './features.ts';
import { code, escapeHtml, opening, paragraph, prose } from './html.ts';
import { type Endpoint, listEndpoints, type OpenApi, readOpenApi, type Schema } from './openapi.ts';
import { languages, renderExample } from './render-examples.ts';
import { fields, renderEndpoint, renderErrors, renderFields, renderType } from './render-parts.ts';

const page = readFileSync(new URL('page.html', import.meta.url), 'utf8');

/** Renders the API reference from its OpenAPI document, into the placeholder comments of page.html. It needs no JavaScript. */
export function renderReference(document: OpenApi): string {
  const endpoints = inOrder(listEndpoints(document));
  const chat = endpoints.find(({ operation }) => operation.operationId === 'createChatCompletion');
  const example = (name: string) => (chat ? renderExample(chat, name) : '');
  const schemas = featuresOfSchemas(document);
  const parts: Readonly<Record<string, string | readonly string[]>> = {
    languages: renderSwitch(),
    first: example('plain'),
    stream: example('stream'),
    tools: example('tools'),
    contents: endpoints.map((endpoint) => {
      const { operationId, summary } = endpoint.operation;
      return where(featureOf(endpoint), `<li><a href="#${operationId}">${escapeHtml(summary)}</a></li>`);
    }),
    routes: renderRoutes(endpoints),
    keys: renderKeys(document),
    endpoints: endpoints.map((endpoint) => where(featureOf(endpoint), renderEndpoint(document, endpoint))),
    headers: renderHeaders(document),
    errors: renderErrors(document),
    types: Object.entries(document.components.schemas).map(([name, schema]) =>
      where(schemas.get(name), renderSchema(document, name, schema)),
    ),
    version: escapeHtml(document.info.version),
  };
  return page.replace(/<!-- (\w+) -->/g, (_, name) => [parts[name]].flat().join('\n'));
}

/** What people come for is first, and what counts its tokens beside it. */
const order = ['/v1/chat/completions', '/v1/responses', '/v1/messages', '/v1/embeddings', '/v1/models', '/v1/usage'];

function inOrder(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const placeOf = ({ path }: Endpoint) => order.findIndex((first) => path === first || path.startsWith(`${first}/`));
  return endpoints.toSorted((a, b) => placeOf(a) - placeOf(b) || a.path.length - b.path.length);
}

/** One choice for all examples, which the page's style follows. */
function renderSwitch(): string {
  const choices = Object.entries(languages).map(
    ([id, name], place) =>
      `<label><input type="radio" name="language" id="in-${id}" value="${id}"${place === 0 ? ' checked' : ''} /> ${name}</label>`,
  );
  return `<fieldset class="languages"><legend class="sr-only">Examples in</legend>${choices.join('')}</fieldset>`;
}

function renderRoutes(endpoints: readonly Endpoint[]): string {
  const items = endpoints.map((endpoint) => {
    const { method, path, operation } = endpoint;
    const link = `<a href="#${operation.operationId}"><span class="method">${method}</span> ${code(path)}</a>`;
    return where(featureOf(endpoint), `<li>${link}</li>`);
  });
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

function renderSchema(document: OpenApi, name: string, schema: Schema): string {
  const choices = schema.oneOf?.map(renderType).join(' or ');
  const plain = schema.enum || (schema.type && !schema.properties) ? renderType(schema) : '';
  const meaning = choices || plain ? `<p>${choices ?? plain}</p>` : '';
  const content = `${paragraph(schema.description)}${meaning}${renderFields(document, schema)}`;
  return opening(name, `<h3>${escapeHtml(name)}</h3>`, content);
}

/** The generated pages, by path: from docs/openapi.json. */
export async function makePages(): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
  const document = readOpenApi(text);
  const served = JSON.parse(text);
  // Its first paragraph is about the source file, and about names that are filled in here.
  served.info.description = served.info.description.split('\n\n').slice(1).join('\n\n');
  return new Map([
    ['docs/index.html', leavePlaces(renderReference(document))],
    ['docs/openapi.json', leavePlaces(writeDocument(served, document))],
  ]);
}

/** Puts placeholders where deployments differ. */
const leavePlaces = (text: string): string =>
  text
    .replaceAll('X-Svc-', '{{headers}}-')
    .replace(/(,\s*)(<code>)?(&quot;|")svc-embedding\3(<\/code>)?/g, '{{#embeddings}}$&{{/embeddings}}')
    .replace(/\bsvc\b/g, '{{service}}')
    .replaceAll('http://127.0.0.1:8787', '{{gateway}}');
