import { code, escapeHtml, opening, paragraph, prose } from './html.ts';
import type { Endpoint, OpenApi, Parameter, Response, Schema } from './openapi.ts';
import { listEndpoints, nameOf, schemaOf } from './openapi.ts';
import { renderExamples } from './render-examples.ts';

/** A definition list. */
export const fields = (rows: readonly (readonly [term: string, meaning: string])[]): string => {
  const items = rows.map(([term, meaning]) => `<div><dt>${term}</dt>${meaning && `<dd>${meaning}</dd>`}</div>`);
  return items.length > 0 ? `<dl class="fields">${items.join('')}</dl>` : '';
};

const named = (name: string, type: string, required = false): string =>
  `${code(name)} <span class="type">${type}</span>${required ? ' <span class="required">required</span>' : ''}`;

/** One row per member of an object. Nested members are named by their path, and composed schemas are merged. */
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
    // `false`: a member that responses never have.
    if (member === false) return [];
    const path = within + name;
    const inner = member.properties ? membersOf(document, member, `${path}.`) : [];
    return [[path, member, whole.required?.includes(name) ?? false], ...inner];
  });
  return [...parts, ...own];
}

/** A value's type, in a few words. */
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

/** Every error code: its statuses, what it means and what to do. */
export function renderErrors(document: OpenApi): string {
  const answers = [
    ...listEndpoints(document).flatMap(({ operation }) => Object.entries(operation.responses)),
    ...Object.values(document.paths).flatMap((path) => [
      ['405', path['x-other-methods']] as const,
      ['426', path['x-websocket']] as const,
    ]),
    ['404', document['x-unknown-path']] as const,
  ];
  const statusesOf = (name: string) =>
    answers.flatMap(([status, answer]) => (answer && codesOf(answer).includes(name) ? [status] : []));
  const items = Object.entries(document['x-codes']).map(([name, { means, do: advice }]) => {
    const statuses = [...new Set(statusesOf(name))].toSorted().join(', ');
    return `<div id="${name}"><dt>${code(name)} <span class="type">${statuses}</span></dt><dd>${prose(means)}</dd><dd class="advice">${prose(advice)}</dd></div>`;
  });
  return `<dl class="fields errors">${items.join('')}</dl>`;
}

function codesOf({ headers }: Response): readonly string[] {
  const { schema } = Object.entries(headers).find(([name]) => name.endsWith('-Error'))?.[1] ?? {};
  return (schema?.enum ?? (schema ? [schema.const] : [])).map(String);
}

export function renderEndpoint(document: OpenApi, endpoint: Endpoint): string {
  const { method, path, operation, parameters } = endpoint;
  const { operationId, summary, description, requestBody, responses } = operation;
  const body = requestBody?.content['application/json'];
  const answer = responses['200'];
  const schema = body && schemaOf(document, body.schema);
  const codes = Object.values(responses).flatMap(codesOf);
  const head = `<h2 id="${operationId}-title">${escapeHtml(summary)}</h2>
<span class="route"><span class="method">${method}</span> ${code(path)}</span>`;
  const content = `${paragraph(description)}
${renderExamples(endpoint)}
${renderParameters(parameters)}
${schema ? opening(`${operationId}-body`, '<h3>Body</h3>', `${paragraph(schema.description)}${renderFields(document, schema)}`) : ''}
${answer ? renderAnswer(answer) : ''}
<h3>Errors</h3>
<p class="codes">${[...new Set(codes)].map((name) => `<a href="#${name}">${code(name)}</a>`).join(' ')}</p>`;
  return `<section class="card endpoint" aria-labelledby="${operationId}-title">
${opening(operationId, head, content)}
</section>`;
}

function renderParameters(parameters: readonly Parameter[]): string {
  const list = fields(
    parameters.map(({ name, in: place, required, description }) => [named(name, place, required), prose(description)]),
  );
  return list && `<h3>Parameters</h3>${list}`;
}

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
