import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type Operation, type Response, readOpenApi, type Schema } from '../../lib/reference/openapi.ts';
import { readEvents } from '../support/client-view.ts';

/** An answer of the gateway, read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

export interface DocumentedOperation {
  readonly path: string;
  /** Upper case. */
  readonly method: string;
  readonly id: string;
  /** The request bodies that the document shows. */
  readonly examples: Readonly<Record<string, unknown>>;
  /** What its stream sends while the model is silent; absent where nothing streams. */
  readonly keepAlive?: string | undefined;
}

/** The OpenAPI document as a judge of real answers. */
interface Contract {
  readonly operations: readonly DocumentedOperation[];
  /** The ways in which an answer contradicts the document. `path` is the document's. */
  judge(method: string, path: string, answer: Answer): string[];
  /** Whether the document lets a client send this body. */
  accepts(operation: DocumentedOperation, body: unknown): boolean;
  /** The document's outcomes that no judged answer had. */
  unseen(): string[];
}

export const documentPath = join(import.meta.dirname, '../../docs/openapi.json');

/** Headers that belong to the connection or to HTTP itself. */
const transport = /^(connection|content-length|content-type|date|keep-alive|transfer-encoding)$/;
const methods = ['get', 'post', 'options'] as const;

export function readContract(): Contract {
  const text = readFileSync(documentPath, 'utf8');
  const document = readOpenApi(text);
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
  // What stands around the schemas is OpenAPI's own.
  ajv.addVocabulary(Object.keys(document));
  ajv.addSchema(JSON.parse(text), 'openapi.json');
  const awaited = new Set<string>();

  const validate = (schema: Schema, value: unknown): string[] => {
    const check = schema.$ref ? ajv.getSchema(`openapi.json${schema.$ref}`) : ajv.compile(schema);
    if (!check) throw new Error(`the document has nothing at ${schema.$ref}`);
    if (check(value)) return [];
    return (check.errors ?? []).map(
      (error) => `${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`,
    );
  };
  const outcomesOf = (name: string, { headers, content }: Response): string[] => {
    const { const: code, enum: codes = code === undefined ? undefined : [code] } = headers['X-Svc-Error']?.schema ?? {};
    return (codes ?? Object.keys(content ?? { empty: true })).map((outcome) => `${name} ${outcome}`);
  };

  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method];
      if (!operation) return [];
      const shown = operation.requestBody?.content['application/json']?.examples ?? {};
      const examples = Object.fromEntries(Object.entries(shown).map(([name, { value }]) => [name, value]));
      const keepAlive = operation.responses['200']?.content?.['text/event-stream']?.['x-keep-alive'];
      return [{ path, method: method.toUpperCase(), id: operation.operationId, examples, keepAlive, operation }];
    }),
  );
  for (const { method, path, operation } of operations) {
    for (const [status, response] of Object.entries(operation.responses)) {
      for (const outcome of outcomesOf(`${method} ${path} ${status}`, response)) awaited.add(outcome);
    }
  }
  const operationOf = (path: string, method: string): Operation | undefined =>
    operations.find((known) => known.path === path && known.method === method)?.operation;

  /** What is documented of a status, and under which key: `5XX` stands for all of its kind. */
  const find = (method: string, path: string, status: number): [key: string, response: Response | undefined] => {
    const key = String(status);
    const responses = operationOf(path, method)?.responses;
    if (responses) {
      const shown = [key, `${key[0]}XX`].find((one) => one in responses) ?? key;
      return [shown, responses[shown]];
    }
    const item = document.paths[path];
    const others = item
      ? { 405: item['x-other-methods'], 426: item['x-websocket'] }
      : { 404: document['x-unknown-path'] };
    return [key, (others as Readonly<Record<string, Response | undefined>>)[key]];
  };

  const judgeHeaders = (documented: Response['headers'], headers: Headers): string[] => {
    const names = new Set(Object.keys(documented).map((name) => name.toLowerCase()));
    const strangers = [...headers.keys()].filter((name) => !names.has(name) && !transport.test(name));
    const faults = Object.entries(documented).flatMap(([name, { required, schema }]) => {
      const value = headers.get(name);
      if (value === null) return required ? [`header ${name} is missing`] : [];
      const isNumber = schema.type === 'integer' || typeof schema.const === 'number';
      return validate(schema, isNumber ? Number(value) : value).map((fault) => `header ${name}: ${fault}`);
    });
    return [...strangers.map((name) => `header ${name} is not documented`), ...faults];
  };

  const judgeBody = (content: Response['content'], { headers, body }: Answer): string[] => {
    const type = headers.get('content-type')?.split(';')[0];
    if (!content) return body === '' && type === undefined ? [] : ['a body is not documented'];
    const media = content[type ?? ''];
    if (!media) return [`content-type ${type} is not documented`];
    const { 'x-event-data': event, 'x-last-data': last } = media;
    if (!event) return validate(media.schema, JSON.parse(body));
    return readEvents(body).flatMap(({ data, value }, index) =>
      data === last ? [] : validate(event, value).map((fault) => `event ${index}: ${fault}`),
    );
  };

  return {
    operations,
    judge(method, path, answer) {
      const [key, response] = find(method, path, answer.status);
      if (!response) return [`status ${answer.status} is not documented`];
      const code = answer.headers.get('x-svc-error');
      const type = answer.headers.get('content-type')?.split(';')[0];
      awaited.delete(`${method} ${path} ${key} ${code ?? type ?? 'empty'}`);
      return [...judgeHeaders(response.headers, answer.headers), ...judgeBody(response.content, answer)];
    },
    accepts({ path, method }, body) {
      const schema = operationOf(path, method)?.requestBody?.content['application/json']?.schema;
      return schema !== undefined && validate(schema, body).length === 0;
    },
    unseen: () => [...awaited],
  };
}
