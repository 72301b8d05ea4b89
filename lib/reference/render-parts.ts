import type { Content, OpenApi, Operation, Parameter, Response, Schema } from './openapi.ts';
import { nameOf, schemaOf } from './openapi.ts';

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => entities[character] ?? '');

export const code = (text: string): string => `<code>${escapeHtml(text)}</code>`;

/** A description from the document: plain text, with `code` between backticks. */
export const prose = (text = ''): string =>
  text
    .split('`')
    .map((part, index) => (index % 2 === 0 ? escapeHtml(part) : code(part)))
    .join('');

export const paragraph = (text: string | undefined): string => (text ? `<p>${prose(text)}</p>` : '');

/** A block that can be copied. */
export const block = (title: string, text: string): string =>
  `<div class="block"><div class="block-head"><p>${escapeHtml(title)}</p></div><pre>${escapeHtml(text)}</pre></div>`;

/** Terms, and what is said of each. */
export const fields = (rows: readonly (readonly [term: string, meaning: string])[]): string => {
  const items = rows.map(([term, meaning]) => `<div><dt>${term}</dt>${meaning && `<dd>${meaning}</dd>`}</div>`);
  return items.length > 0 ? `<dl class="fields">${items.join('')}</dl>` : '';
};

const named = (name: string, type: string, required = false): string =>
  `${code(name)} <span class="type">${type}</span>${required ? ' <span class="required">required</span>' : ''}`;

/** The members of an object, one row each: members of inner objects by their path, those of composed schemas together. */
export function renderFields(document: OpenApi, schema: Schema): string {
  return fields(
    membersOf(document, schema).map(([name, member, required]) => [
      named(name, renderType(member), required),
      prose(schemaOf(document, member).description),
    ]),
  );
}

type Member = readonly [name: string, schema: Schema, required: boolean];

function membersOf(document: OpenApi, schema: Schema, within = ''): readonly Member[] {
  const whole = schemaOf(document, schema);
  const parts = (whole.allOf ?? []).flatMap((part) => membersOf(document, part, within));
  const own = Object.entries(whole.properties ?? {}).flatMap(([name, member]): Member[] => {
    // Leave out members that an answer never has.
    if (member === false) return [];
    const path = within + name;
    const inner = member.properties ? membersOf(document, member, `${path}.`) : [];
    return [[path, member, whole.required?.includes(name) ?? false], ...inner];
  });
  return [...parts, ...own];
}

/** What a value may be, in a few words. */
export function renderType({ $ref, const: constant, enum: values, type, items }: Schema): string {
  if ($ref !== undefined) return linkTo($ref);
  if (constant !== undefined) return code(JSON.stringify(constant));
  if (values) return values.map((value) => code(JSON.stringify(value))).join(', ');
  if (items) return `array of ${renderType(items)}`;
  return [type ?? 'any'].flat().join(' or ');
}

function linkTo(schema: string): string {
  return `<a href="#${nameOf(schema)}">${escapeHtml(nameOf(schema))}</a>`;
}

/** What every status except success means, each meaning once, however many endpoints have it. */
export function renderErrors(document: OpenApi): string {
  const answers = [
    ...listEndpoints(document).flatMap(({ operation }) => Object.entries(operation.responses)),
    ...Object.values(document.paths).flatMap((path) => [
      ['405', path['x-other-methods']] as const,
      ['426', path['x-websocket']] as const,
    ]),
    ['404', document['x-unknown-path']] as const,
  ].flatMap(([status, answer]) => (answer && status !== '200' ? [{ status, answer }] : []));
  const statuses = [...Map.groupBy(answers, ({ status }) => status)].toSorted(([a], [b]) => a.localeCompare(b));
  const items = statuses.map(([status, all]) => {
    const meanings = new Map(all.map(({ answer }) => [answer.description, codesOf(answer)]));
    const texts = [...meanings].map(
      ([text, codes]) => `<dd>${codes.map(code).join(' ')}<span>${prose(text)}</span></dd>`,
    );
    return `<div id="status-${status}"><dt>${status}</dt>${texts.join('')}</div>`;
  });
  return `<dl class="errors">${items.join('')}</dl>`;
}

function codesOf({ headers }: Response): readonly string[] {
  const { schema } = Object.entries(headers).find(([name]) => name.endsWith('-Error'))?.[1] ?? {};
  return (schema?.enum ?? (schema ? [schema.const] : [])).map(String);
}

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
    (['get', 'post'] as const).flatMap((method) => {
      const operation = methods[method];
      if (!operation) return [];
      const all = [...parameters, ...(operation.parameters ?? [])];
      return [{ method: method.toUpperCase(), path, operation, parameters: all }];
    }),
  );
}

export function renderEndpoint(document: OpenApi, { method, path, operation, parameters }: Endpoint): string {
  const { operationId, summary, description, requestBody, responses } = operation;
  const body = requestBody?.content['application/json'];
  const answer = responses['200'];
  const schema = body && schemaOf(document, body.schema);
  return `<section class="card endpoint" aria-labelledby="${operationId}">
<h2 id="${operationId}">${escapeHtml(summary)}</h2>
<p class="route"><span class="method">${method}</span> ${code(path)}</p>
${paragraph(description)}
${renderParameters(parameters)}
${schema ? `<h3>Body</h3>${paragraph(schema.description)}${renderFields(document, schema)}` : ''}
${renderExamples(body)}
${answer ? renderAnswer(answer) : ''}
<h3>Errors</h3>
<p class="statuses">${Object.keys(responses)
    .filter((status) => status !== '200')
    .map(linkToStatus)
    .join(' ')}</p>
</section>`;
}

const linkToStatus = (status: string) => `<a href="#status-${status}">${status}</a>`;

function renderParameters(parameters: readonly Parameter[]): string {
  const list = fields(
    parameters.map(({ name, in: place, required, description }) => [named(name, place, required), prose(description)]),
  );
  return list && `<h3>Parameters</h3>${list}`;
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
<p>${prose(description)}${json?.schema.$ref ? ` As JSON: ${linkTo(json.schema.$ref)}.` : ''}${
    events?.$ref ? ` As a stream, each event: ${linkTo(events.$ref)}.` : ''
  }${stream?.['x-last-data'] ? ` Last comes ${code(`data: ${stream['x-last-data']}`)}.` : ''}${
    stream?.['x-keep-alive'] ? ` While the model is silent, ${code(stream['x-keep-alive'])} keeps the connection.` : ''
  }</p>`;
}
