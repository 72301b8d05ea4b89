import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { catalogue, type ErrorCode } from '../../lambda/errors.ts';
import { documentPath, readContract } from './contract.ts';

type Tree = Readonly<Record<string, unknown>>;

const text = readFileSync(documentPath, 'utf8');
const document: {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly security: readonly Tree[];
  readonly components: Readonly<Record<string, Tree>> & {
    readonly responses: Readonly<Record<string, { readonly headers: Readonly<Record<string, { schema?: Tree }>> }>>;
    readonly schemas: Readonly<Record<string, { readonly enum?: unknown }>>;
  };
  readonly paths: Readonly<Record<string, Readonly<Record<string, { responses?: Readonly<Record<string, Tree>> }>>>>;
} = JSON.parse(text);

const references = new Set([...text.matchAll(/"\$ref": "#\/([^"]+)"/g)].map(([, path = '']) => path));

describe('docs/openapi.json', () => {
  test('is OpenAPI 3.1, and has the version of the package', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect([document.openapi, document.info.version]).toEqual(['3.1.0', version]);
  });

  test('uses every component, and refers to nothing else', () => {
    const components = Object.entries(document.components)
      .filter(([kind]) => kind !== 'securitySchemes')
      .flatMap(([kind, members]) => Object.keys(members).map((name) => `components/${kind}/${name}`));
    expect([...references].sort()).toEqual(components.sort());
  });

  test('names its security schemes', () => {
    const { securitySchemes = {} } = document.components;
    expect(document.security.flatMap(Object.keys)).toEqual(Object.keys(securitySchemes));
  });

  test('gives operations different names', () => {
    const ids = readContract().operations.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(0);
  });

  test('knows the codes of the catalogue', () => {
    expect(document.components.schemas.ErrorCode?.enum).toEqual(Object.keys(catalogue));
  });

  test('lists every code under its own status, except a model’s own', () => {
    const ownStatus = new Set<ErrorCode>(['upstream_error', 'invalid_request']);
    let checked = 0;
    for (const [path, item] of Object.entries(document.paths)) {
      for (const { responses = {} } of Object.values(item)) {
        for (const [status, { $ref = '' }] of Object.entries(responses)) {
          const component = document.components.responses[String($ref).split('/').at(-1) ?? ''];
          const schema = component?.headers['X-Svc-Error']?.schema ?? { enum: [] };
          for (const code of ('const' in schema ? [schema.const] : schema.enum) as ErrorCode[]) {
            const expected = ownStatus.has(code) ? status : String(catalogue[code].status);
            expect([path, code, status]).toEqual([path, code, expected]);
            checked += 1;
          }
        }
      }
    }
    expect(checked).toBeGreaterThan(50);
  });
});
