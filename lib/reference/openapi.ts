import { isObject } from '../../lambda/settings/json.ts';

type Named<T> = Readonly<Record<string, T>>;

/** The parts of an OpenAPI document that the page shows, with references resolved, except those to schemas. */
export interface OpenApi {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Named<Path>;
  /** The response on every path that is not listed. */
  readonly 'x-unknown-path': Response;
  /** What each error code means, and what to do about it. */
  readonly 'x-codes': Named<{ readonly means: string; readonly do: string }>;
  readonly components: {
    readonly securitySchemes: Named<{ readonly type: string; readonly name: string; readonly description: string }>;
    readonly schemas: Named<Schema>;
  };
}

interface Path extends Readonly<Partial<Record<'get' | 'post' | 'options', Operation>>> {
  readonly parameters?: readonly Parameter[];
  /** The response to other methods, and to a WebSocket handshake. */
  readonly 'x-other-methods': Response;
  readonly 'x-websocket'?: Response;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Named<Content> };
  readonly responses: Named<Response>;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description: string;
}

export interface Response {
  readonly description: string;
  readonly headers: Named<{ readonly description?: string; readonly required?: boolean; readonly schema: Schema }>;
  readonly content?: Named<Content>;
}

export interface Content {
  readonly schema: Schema;
  readonly examples?: Named<{ readonly value: unknown }>;
  readonly 'x-event-data'?: Schema;
  readonly 'x-last-data'?: string;
  readonly 'x-keep-alive'?: string;
}

export interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly properties?: Named<Schema | false>;
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

/** Parses a document. References to schemas stay, because the page links to those. */
export function readOpenApi(text: string): OpenApi {
  const document = JSON.parse(text);
  const inline = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(inline);
    if (!isObject(node)) return node;
    const { $ref = '#/components/schemas/' } = node;
    if (!String($ref).startsWith('#/components/schemas/')) return inline(find(document, String($ref)));
    return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, inline(value)]));
  };
  return inline(document) as OpenApi;
}

export interface Endpoint {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
  /** Of the path and of the operation. */
  readonly parameters: readonly Parameter[];
}

/** The endpoints of a document. Preflights, which only browsers send, are left out. */
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

/** Resolves a reference. */
function find(document: unknown, reference: string): unknown {
  const found = reference
    .split('/')
    .slice(1)
    .reduce((part, name) => Object(part)[name], document);
  if (found === undefined) throw new Error(`the document has no ${reference}`);
  return found;
}

export const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1);

/** Resolves a schema's reference. */
export function schemaOf(document: OpenApi, schema: Schema): Schema {
  return schema.$ref === undefined ? schema : (find(document, schema.$ref) as Schema);
}
