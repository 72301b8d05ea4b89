import { block, code, escapeHtml, paragraph, prose } from './html.ts';
import {
  type Content,
  isRef,
  nameOf,
  type OpenApi,
  type Operation,
  type Parameter,
  type Ref,
  type Response,
  resolve,
  type Schema,
} from './openapi.ts';
import { renderFields } from './render-schema.ts';

/** An endpoint of the document. */
export interface Endpoint {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
  /** Those of the path and of the operation. */
  readonly parameters: readonly Parameter[];
}

/** The endpoints of a document without preflights, which only browsers send. */
export function listEndpoints(document: OpenApi): readonly Endpoint[] {
  return Object.entries(document.paths).flatMap(([path, { parameters = [], ...methods }]) =>
    ['get', 'post'].flatMap((method) => {
      const operation = methods[method] as Operation | undefined;
      if (!operation) return [];
      const all = [...parameters, ...(operation.parameters ?? [])].map((ref) => resolve<Parameter>(document, ref));
      return [{ method: method.toUpperCase(), path, operation, parameters: all }];
    }),
  );
}

export function renderEndpoint(document: OpenApi, { method, path, operation, parameters }: Endpoint): string {
  const { operationId, summary, description, requestBody, responses } = operation;
  const body = requestBody?.content['application/json'];
  const answer = responses['200'] && resolve<Response>(document, responses['200']);
  return `<section class="card endpoint" aria-labelledby="${operationId}">
<h2 id="${operationId}">${escapeHtml(summary)}</h2>
<p class="route"><span class="method">${method}</span> ${code(path)}</p>
${paragraph(description)}
${renderParameters(parameters)}
${body ? `<h3>Body</h3>${paragraph(schemaOf(document, body).description)}${renderFields(document, schemaOf(document, body))}` : ''}
${renderExamples(body)}
${answer ? renderAnswer(answer) : ''}
<h3>Errors</h3>
<p class="statuses">${Object.keys(responses)
    .filter((status) => status !== '200')
    .map(linkToStatus)
    .join(' ')}</p>
</section>`;
}

const schemaOf = (document: OpenApi, { schema }: Content) => resolve<Schema>(document, schema as Ref);

const linkToStatus = (status: string) => `<a href="#status-${status}">${status}</a>`;

function renderParameters(parameters: readonly Parameter[]): string {
  const rows = parameters.map(
    ({ name, in: place, required, description }) =>
      `<div><dt>${code(name)} <span class="type">${place}</span>${required ? ' <span class="required">required</span>' : ''}</dt><dd>${prose(description)}</dd></div>`,
  );
  return rows.length > 0 ? `<h3>Parameters</h3><dl class="fields">${rows.join('')}</dl>` : '';
}

const titles: Readonly<Record<string, string>> = { plain: 'A request', stream: 'As a stream', image: 'With an image' };

function renderExamples(body: Content | undefined): string {
  return Object.entries(body?.examples ?? {})
    .map(([name, { value }]) => block(titles[name] ?? name, JSON.stringify(value, shorten, 2)))
    .join('');
}

/** Shortens the bytes of images, which nobody reads. */
const shorten = (_: string, value: unknown) =>
  typeof value === 'string' && value.length > 60 ? `${value.slice(0, 40)}…` : value;

function renderAnswer({ description, content = {} }: Response): string {
  const { 'application/json': json, 'text/event-stream': stream } = content;
  const events = stream?.['x-event-data'];
  return `<h3>Answer</h3>
<p>${prose(description)}${json && isRef(json.schema) ? ` As JSON: <a href="#${nameOf(json.schema)}">${nameOf(json.schema)}</a>.` : ''}${
    events ? ` As a stream, each event: <a href="#${nameOf(events)}">${nameOf(events)}</a>.` : ''
  }${stream?.['x-last-data'] ? ` Last comes ${code(`data: ${stream['x-last-data']}`)}.` : ''}${
    stream?.['x-keep-alive'] ? ` While the model is silent, ${code(stream['x-keep-alive'])} keeps the connection.` : ''
  }</p>`;
}
