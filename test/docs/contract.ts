import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { createParser } from 'eventsource-parser';

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
export interface Contract {
  readonly operations: readonly DocumentedOperation[];
  /** The ways in which an answer contradicts the document. `path` is the document's. */
  judge(method: string, path: string, answer: Answer): string[];
  /** Whether the document lets a client send this body. */
  accepts(operation: DocumentedOperation, body: unknown): boolean;
  /** The document's outcomes that no judged answer had. */
  unseen(): string[];
}

type Schema = Readonly<Record<string, unknown>>;
interface Reference {
  readonly $ref: string;
}
interface MediaType {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
  readonly 'x-event-data'?: Schema;
  readonly 'x-last-data'?: string;
  readonly 'x-keep-alive'?: string;
}
interface HeaderObject {
  readonly required?: boolean;
  readonly schema: Schema;
}
interface ResponseObject {
  readonly headers: Readonly<Record<string, HeaderObject | Reference>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}
interface Operation {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, MediaType>> };
  readonly responses: Readonly<Record<string, ResponseObject | Reference>>;
}
type Method = 'get' | 'post' | 'options';
type PathItem = Readonly<Partial<Record<Method, Operation>>> & {
  readonly 'x-other-methods': Reference;
  readonly 'x-websocket'?: Reference;
};
interface Document {
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly 'x-unknown-path': Reference;
}

export const documentPath = join(import.meta.dirname, '../../docs/openapi.json');

/** Headers that belong to the connection or to HTTP itself. */
const transport = /^(connection|content-length|content-type|date|keep-alive|transfer-encoding)$/;
const methods = ['get', 'post', 'options'] as const;

export function readContract(): Contract {
  const document: Document = JSON.parse(readFileSync(documentPath, 'utf8'));
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
  // What stands around the schemas is OpenAPI's own.
  ajv.addVocabulary(Object.keys(document));
  ajv.addSchema(document, 'openapi.json');
  const awaited = new Set<string>();

  const resolve = <T extends object>(node: T | Reference): T => {
    if (!('$ref' in node)) return node;
    const steps = String(node.$ref).split('/').slice(1);
    return steps.reduce<unknown>((value, step) => (value as Readonly<Record<string, unknown>>)[step], document) as T;
  };
  const validate = (schema: Schema, value: unknown): string[] => {
    const { $ref } = schema;
    const check = typeof $ref === 'string' ? ajv.getSchema(`openapi.json${$ref}`) : ajv.compile(schema);
    if (!check) throw new Error(`the document has nothing at ${$ref}`);
    if (check(value)) return [];
    return (check.errors ?? []).map(
      (error) => `${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`,
    );
  };
  const outcomesOf = (name: string, response: ResponseObject): string[] => {
    const header = response.headers['X-Svc-Error'];
    const { schema = {} } = header ? resolve(header) : {};
    const codes = 'const' in schema ? [schema.const] : (schema.enum as string[] | undefined);
    return (codes ?? Object.keys(response.content ?? { empty: true })).map((outcome) => `${name} ${outcome}`);
  };

  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method];
      if (!operation) return [];
      const shown = operation.requestBody?.content['application/json']?.examples ?? {};
      const examples = Object.fromEntries(Object.entries(shown).map(([name, { value }]) => [name, value]));
      const success = resolve(operation.responses['200'] ?? operation.responses['204'] ?? { headers: {} });
      const keepAlive = success.content?.['text/event-stream']?.['x-keep-alive'];
      return [{ path, method: method.toUpperCase(), id: operation.operationId, examples, keepAlive, operation }];
    }),
  );
  for (const { method, path, operation } of operations) {
    for (const [status, response] of Object.entries(operation.responses)) {
      for (const outcome of outcomesOf(`${method} ${path} ${status}`, resolve(response))) awaited.add(outcome);
    }
  }

  const find = (method: string, path: string, status: number): [key: string, response: ResponseObject] | undefined => {
    const operation = operations.find((known) => known.path === path && known.method === method)?.operation;
    if (operation) {
      const key = [String(status), `${String(status)[0]}XX`].find((one) => one in operation.responses);
      const response = key === undefined ? undefined : operation.responses[key];
      return key !== undefined && response ? [key, resolve(response)] : undefined;
    }
    const item = document.paths[path];
    if (item) {
      const other = { 405: item['x-other-methods'], 426: item['x-websocket'] }[status];
      return other && [String(status), resolve(other as ResponseObject | Reference)];
    }
    return status === 404 ? ['404', resolve(document['x-unknown-path'] as ResponseObject | Reference)] : undefined;
  };

  const judgeHeaders = (documented: ResponseObject['headers'], headers: Headers): string[] => {
    const names = new Set(Object.keys(documented).map((name) => name.toLowerCase()));
    const strangers = [...headers.keys()].filter((name) => !names.has(name) && !transport.test(name));
    const faults = Object.entries(documented).flatMap(([name, node]) => {
      const { required, schema } = resolve(node);
      const text = headers.get(name);
      if (text === null) return required ? [`header ${name} is missing`] : [];
      const isNumber = schema.type === 'integer' || typeof schema.const === 'number';
      return validate(schema, isNumber ? Number(text) : text).map((fault) => `header ${name}: ${fault}`);
    });
    return [...strangers.map((name) => `header ${name} is not documented`), ...faults];
  };

  const judgeBody = (content: ResponseObject['content'], { headers, body }: Answer): string[] => {
    const type = headers.get('content-type')?.split(';')[0];
    if (!content) return body === '' && type === undefined ? [] : ['a body is not documented'];
    const media = content[type ?? ''];
    if (!media) return [`content-type ${type} is not documented`];
    if (!media['x-event-data']) return validate(media.schema, JSON.parse(body));
    const event = media['x-event-data'];
    const last = media['x-last-data'];
    return readEvents(body).flatMap(({ data }, index) =>
      data === last ? [] : validate(event, JSON.parse(data)).map((fault) => `event ${index}: ${fault}`),
    );
  };

  return {
    operations,
    judge(method, path, answer) {
      const found = find(method, path, answer.status);
      if (!found) return [`status ${answer.status} is not documented`];
      const [key, response] = found;
      const code = answer.headers.get('x-svc-error');
      const type = answer.headers.get('content-type')?.split(';')[0];
      awaited.delete(`${method} ${path} ${key} ${code ?? type ?? 'empty'}`);
      return [...judgeHeaders(response.headers, answer.headers), ...judgeBody(response.content, answer)];
    },
    accepts({ path, method }, body) {
      const { operation } = operations.find((known) => known.path === path && known.method === method) ?? {};
      const schema = operation?.requestBody?.content['application/json']?.schema;
      return schema !== undefined && validate(schema, body).length === 0;
    },
    unseen: () => [...awaited],
  };
}

export interface StreamEvent {
  readonly event?: string | undefined;
  readonly data: string;
}

/** The events of a whole stream; comments are none. */
export function readEvents(body: string): StreamEvent[] {
  const events: StreamEvent[] = [];
  createParser({ onEvent: ({ event, data }) => events.push({ event, data }) }).feed(body);
  return events;
}
