/** The parts of an OpenAPI document that its page shows, with what references lead to in their places, except for schemas. */
export interface OpenApi {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, Path>>;
  /** The answer on every path that is not listed. */
  readonly 'x-unknown-path': Response;
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, { readonly description: string } & SecurityScheme>>;
    readonly schemas: Readonly<Record<string, Schema>>;
  };
}

type SecurityScheme = { readonly type: 'apiKey'; readonly name: string } | { readonly type: 'http' };

interface Path extends Readonly<Partial<Record<'get' | 'post' | 'options', Operation>>> {
  readonly parameters?: readonly Parameter[];
  /** How it answers other methods, and a WebSocket's handshake. */
  readonly 'x-other-methods': Response;
  readonly 'x-websocket'?: Response;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, Response>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description: string;
}

export interface Response {
  readonly description: string;
  readonly headers: Readonly<Record<string, Header>>;
  readonly content?: Readonly<Record<string, Content>>;
}

interface Header {
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

export interface Content {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
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
  readonly properties?: Readonly<Record<string, Schema | false>>;
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

/** Reads a document. Its references to schemas stay, as the page links to those. */
export function readOpenApi(text: string): OpenApi {
  const document = JSON.parse(text);
  const inline = (node: unknown): unknown => {
    if (typeof node !== 'object' || node === null) return node;
    if (Array.isArray(node)) return node.map(inline);
    if ('$ref' in node && !String(node.$ref).startsWith('#/components/schemas/')) return inline(find(node.$ref));
    return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, inline(value)]));
  };
  const find = (reference: unknown): unknown => {
    const found = String(reference)
      .split('/')
      .slice(1)
      .reduce((part, name) => part?.[name], document);
    if (found === undefined) throw new Error(`the document has no ${reference}`);
    return found;
  };
  return inline(document) as OpenApi;
}

export const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1);

/** The schema itself, in place of a reference to it. */
export function schemaOf({ components }: OpenApi, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const found = components.schemas[nameOf(schema.$ref)];
  if (!found) throw new Error(`the document has no ${schema.$ref}`);
  return found;
}
