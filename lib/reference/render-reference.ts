import { readFile } from 'node:fs/promises';
import { type Header, type OpenApi, type Response, resolve, type Schema } from './openapi.ts';
import {
  code,
  type Endpoint,
  escapeHtml,
  listEndpoints,
  paragraph,
  prose,
  renderEndpoint,
  renderErrors,
  renderFields,
  renderType,
} from './render-parts.ts';

/** The API's page, made from its OpenAPI document. It needs no JavaScript. */
export function renderReference(document: OpenApi): string {
  const endpoints = listEndpoints(document);
  const { schemas } = document.components;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="color-scheme" content="light dark" />
<meta name="description" content="Every endpoint, field, header and error." />
<title>API · svc</title>
<link rel="icon" href="cli/icon.svg" />
${['cli/theme.css', 'cli/controls.css', 'cli/result.css', 'docs/site.css', 'docs/reference.css'].map((path) => `<link rel="stylesheet" href="${path}" />`).join('\n')}
<script type="module" src="docs/copy-blocks.js"></script>
${['copy', 'element', 'messages'].map((name) => `<link rel="modulepreload" href="cli/${name}.js" />`).join('\n')}
</head>
<body class="wide">
<header>
<div class="bar">
<p class="brand"><a href="./"><img src="cli/icon.svg" alt="" width="28" height="28" /> svc</a></p>
<nav aria-label="Main"><a href="docs" aria-current="page">API</a>{{#cli}}<a href="cli">Get a key</a>{{/cli}}</nav>
</div>
<h1>API</h1>
<p class="lead">Every endpoint, field, header and error. For programs there is <a href="docs/openapi.json">the OpenAPI document</a>.</p>
</header>
<div class="columns">
<nav class="contents" aria-label="On this page">
<h2>On this page</h2>
<ul>
<li><a href="#base">Base URL</a></li>
<li><a href="#keys">Keys</a></li>
${endpoints.map(({ operation }) => `<li><a href="#${operation.operationId}">${escapeHtml(operation.summary)}</a></li>`).join('\n')}
<li><a href="#headers">Headers</a></li>
<li><a href="#errors">Errors</a></li>
<li><a href="#objects">Objects</a></li>
</ul>
</nav>
<main>
<section class="card" aria-labelledby="base">
<h2 id="base">Base URL</h2>
<dl class="pairs stacked">
<div><dt><code>{{gateway}}/v1</code></dt><dd>for OpenAI clients</dd></div>
<div><dt><code>{{gateway}}</code></dt><dd>for Anthropic clients</dd></div>
</dl>
${renderTable(endpoints)}
</section>
<section class="card" aria-labelledby="keys">
<h2 id="keys">Keys</h2>
<p>A key goes in any one of these headers. {{#guests}}Any word in place of a key makes you a guest of your network, with a few requests to try.{{/guests}}{{^guests}}Every request needs one: {{#cli}}<a href="cli">get one</a>{{/cli}}{{^cli}}ask the operator of this gateway for one{{/cli}}.{{/guests}}</p>
${renderKeys(document)}
</section>
${endpoints.map((endpoint) => renderEndpoint(document, endpoint)).join('\n')}
<section class="card" aria-labelledby="headers">
<h2 id="headers">Headers</h2>
<p>These stand on the answers, on errors too.</p>
${renderHeaders(document)}
</section>
<section class="card" aria-labelledby="errors">
<h2 id="errors">Errors</h2>
<p>Each has a code. It stands in the header <code>X-Svc-Error</code>, and in the body as far as its dialect has a place for it.</p>
${renderErrors(document)}
</section>
<section class="card" aria-labelledby="objects">
<h2 id="objects">Objects</h2>
${Object.entries(schemas)
  .map(([name, schema]) => renderObject(document, name, schema))
  .join('\n')}
</section>
</main>
</div>
<p id="status" class="sr-only" role="status"></p>
<footer><p>Version ${escapeHtml(document.info.version)}. Nothing on this page comes from elsewhere, and nothing is kept in your browser.</p></footer>
</body>
</html>
`;
}

function renderTable(endpoints: readonly Endpoint[]): string {
  const items = endpoints.map(
    ({ method, path, operation }) =>
      `<li><a href="#${operation.operationId}"><span class="method">${method}</span> ${code(path)}</a></li>`,
  );
  return `<ul class="routes">${items.join('')}</ul>`;
}

function renderKeys({ components }: OpenApi): string {
  const rows = Object.values(components.securitySchemes).map((scheme) => {
    const form = scheme.type === 'apiKey' ? `${scheme.name}: KEY` : 'Authorization: Bearer KEY';
    return `<div><dt>${code(form)}</dt><dd>${prose(scheme.description)}</dd></div>`;
  });
  return `<dl class="fields">${rows.join('')}</dl>`;
}

/** Each header once, under the names that it has in the answers. */
function renderHeaders(document: OpenApi): string {
  const answers = listEndpoints(document).flatMap(({ operation }) => Object.values(operation.responses));
  const headers = answers.flatMap((answer) => Object.entries(resolve<Response>(document, answer).headers ?? {}));
  const meanings = headers.map(
    ([name, header]) => [name, resolve<Header>(document, header).description ?? ''] as const,
  );
  const rows = [...new Map(meanings.filter(([, text]) => text !== '').toReversed())].map(
    ([name, text]) => `<div><dt>${code(name)}</dt><dd>${prose(text)}</dd></div>`,
  );
  return `<dl class="fields">${rows.join('')}</dl>`;
}

function renderObject(document: OpenApi, name: string, schema: Schema): string {
  const choices = schema.oneOf?.map(renderType).join(' or ');
  const plain = schema.enum || (schema.type && !schema.properties) ? renderType(schema) : '';
  return `<h3 id="${name}">${escapeHtml(name)}</h3>
${paragraph(schema.description)}${choices || plain ? `<p>${choices ?? plain}</p>` : ''}${renderFields(document, schema)}`;
}

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
