import {
  type Call,
  calls,
  type Example,
  writeCurl,
  writeJavaScript,
  writePython,
} from '../../lambda/accounts/pages/cli/examples.js';
import { layOutJson } from '../../lambda/accounts/pages/cli/literals.js';
import { block, opening } from './html.ts';
import type { Content, Endpoint } from './openapi.ts';

const titles: Readonly<Record<string, string>> = {
  stream: 'As a stream',
  tools: 'With a tool',
  image: 'With an image',
  several: 'Several texts',
  tokens: 'Tokens',
};

const access = { gatewayUrl: '{{gateway}}', serviceName: 'svc', key: '{{placeholder}}' };

/** The languages of the examples, by the ids of the switch between them. */
export const languages = { curl: 'curl', javascript: 'JavaScript', python: 'Python' } as const;
const writers = { curl: writeCurl, javascript: writeJavaScript, python: writePython } as const;

/** All examples of an endpoint. */
export function renderExamples(endpoint: Endpoint): string {
  const examples = endpoint.operation.requestBody?.content['application/json']?.examples ?? { plain: {} };
  return Object.keys(examples)
    .map((name) => {
      const blocks = renderExample(endpoint, name);
      const title = titles[name];
      return title ? opening(`${endpoint.operation.operationId}-${name}`, `<h3>${title}</h3>`, blocks) : blocks;
    })
    .join('');
}

/** An example in each language, of which one is seen, with the answer that it brings, if the document has one. */
export function renderExample(endpoint: Endpoint, name: string): string {
  const { operation } = endpoint;
  const { 'application/json': json, 'text/event-stream': stream } = operation.responses['200']?.content ?? {};
  const value = operation.requestBody?.content['application/json']?.examples?.[name]?.value;
  const example = exampleOf(endpoint, value as Example['body']);
  const requests = Object.entries(writers).map(([id, write]) =>
    block(languages[id as keyof typeof languages], write(access, example), `in in-${id}`),
  );
  const answer =
    name === 'stream' ? String(readExample(stream, 'plain') ?? '').trim() : layOutJson(readExample(json, name));
  return `${requests.join('')}${answer === 'undefined' || answer === '' ? '' : block('Answer', answer)}`;
}

const readExample = (content: Content | undefined, name: string): unknown => content?.examples?.[name]?.value;

function exampleOf({ method, path, parameters, operation }: Endpoint, body: Example['body']): Example {
  const isAnthropic = method === 'POST' && parameters.some(({ name }) => name === 'anthropic-version');
  const all: Readonly<Record<string, Call>> = calls;
  const call = all[operation.operationId];
  const asked = body && Object.hasOwn(body, 'tools') && call?.tools ? { ...call, shown: call.tools } : call;
  return { method, path: path.replace('{id}', 'svc'), body, sdk: isAnthropic ? 'Anthropic' : 'OpenAI', call: asked };
}
