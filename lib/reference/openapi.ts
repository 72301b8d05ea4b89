/** The parts of an OpenAPI document that its page shows. */
export interface OpenApi {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Readonly<
    Record<string, { readonly [method: string]: unknown; readonly parameters?: readonly Ref[] }>
  >;
  /** The answer on every path that is not listed. */
  readonly 'x-unknown-path': Ref;
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, { readonly description: string } & SecurityScheme>>;
    readonly schemas: Readonly<Record<string, Schema>>;
  };
}

export interface Ref {
  readonly $ref: string;
}

type SecurityScheme = { readonly type: 'apiKey'; readonly name: string } | { readonly type: 'http' };

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Ref[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, Ref | Response>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description: string;
  readonly schema: Schema;
}

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Ref | Header>>;
  readonly content?: Readonly<Record<string, Content>>;
}

export interface Header {
  readonly description?: string;
  readonly schema?: Schema;
}

export interface Content {
  readonly schema: Ref | Schema;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
  readonly 'x-event-data'?: Ref;
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

export const isRef = (value: object): value is Ref => '$ref' in value;

/** Resolves a reference; gives anything else back as it is. */
export function resolve<T extends object>(document: OpenApi, value: Ref | T): T {
  if (!isRef(value)) return value;
  const found = value.$ref
    .split('/')
    .slice(1)
    .reduce<unknown>((part, name) => (part as Readonly<Record<string, unknown>>)[name], document);
  if (typeof found !== 'object' || found === null) throw new Error(`the document has no ${value.$ref}`);
  return found as T;
}

export const nameOf = ({ $ref }: Ref): string => $ref.slice($ref.lastIndexOf('/') + 1);
