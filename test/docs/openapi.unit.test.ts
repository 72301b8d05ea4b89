import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { catalogue } from '../../lambda/errors.ts';
import { documentPath, readContract } from './contract.ts';

const text = readFileSync(documentPath, 'utf8');
const document: {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly security: readonly object[];
  readonly 'x-codes': object;
  readonly components: Readonly<Record<string, object>> & {
    readonly schemas: Readonly<Record<string, { readonly enum?: unknown }>>;
  };
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
    expect(Object.keys(document['x-codes'])).toEqual(Object.keys(catalogue));
  });
});
