import { block, opening } from './html.ts';
import type { Content, Endpoint } from './openapi.ts';

const titles: Readonly<Record<string, string>> = {
  stream: 'As a stream',
  image: 'With an image',
  several: 'Several texts',
  tokens: 'Tokens',
};

/** Each example as a curl command, with its response if the document has one. */
export function renderExamples(endpoint: Endpoint): string {
  const { requestBody, responses } = endpoint.operation;
  const { 'application/json': json, 'text/event-stream': stream } = responses['200']?.content ?? {};
  const answers: Readonly<Record<string, string>> = {
    plain: layOut(exampleOf(json)),
    stream: String(exampleOf(stream) ?? '').trim(),
  };
  const requests = requestBody?.content['application/json']?.examples ?? { plain: { value: undefined } };
  return Object.entries(requests)
    .map(([name, { value }]) => {
      const [title, answer] = [titles[name], answers[name]];
      const blocks = `${block('Request', writeCurl(endpoint, value))}${answer ? block('Answer', answer) : ''}`;
      return title ? opening(`${endpoint.operation.operationId}-${name}`, `<h3>${title}</h3>`, blocks) : blocks;
    })
    .join('');
}

const exampleOf = (content: Content | undefined): unknown => content?.examples?.plain?.value;

/** A command to paste into a shell. No example contains a single quote. */
function writeCurl({ method, path, parameters }: Endpoint, body: unknown): string {
  const isAnthropic = method === 'POST' && parameters.some(({ name }) => name === 'anthropic-version');
  const streams = body !== undefined && Object(body).stream === true;
  return [
    `curl ${streams ? '-N ' : ''}http://127.0.0.1:8787${path.replace('{id}', 'svc')}`,
    isAnthropic ? "-H 'x-api-key: YOUR_KEY'" : "-H 'authorization: Bearer YOUR_KEY'",
    ...(isAnthropic ? ["-H 'anthropic-version: 2023-06-01'"] : []),
    ...(body === undefined ? [] : ["-H 'content-type: application/json'", `-d '${layOut(body, '  ', true)}'`]),
  ].join(' \\\n  ');
}

/** Pretty-prints JSON. What fits on a line stays on one. */
function layOut(value: unknown, indent = '', mustBreak = false): string {
  const line = JSON.stringify(value, null, 1).replace(/\n */g, ' ');
  const fits = indent.length + line.length <= 80 && !mustBreak;
  if (fits || typeof value !== 'object' || value === null) return line;
  const inner = `${indent}  `;
  const members = Array.isArray(value)
    ? value.map((one) => layOut(one, inner))
    : Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${layOut(member, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${members.map((member) => inner + member).join(',\n')}\n${indent}${close}`;
}
