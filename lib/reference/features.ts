import { type Endpoint, listEndpoints, nameOf, type OpenApi, schemaOf } from './openapi.ts';

/** The facts of a deployment that endpoints need, by operation: without one they are not there. */
const featureOfOperation: Readonly<Record<string, string>> = {
  createEmbeddings: 'embeddings',
  compactResponse: 'compacting',
  countInputTokens: 'counts_inputs',
  countTokens: 'counts_messages',
};

export const featureOf = ({ operation }: Endpoint): string | undefined => featureOfOperation[operation.operationId];

/** A part that only deployments with this feature have. */
export const where = (feature: string | undefined, part: string): string =>
  feature === undefined ? part : `{{#${feature}}}${part}{{/${feature}}}`;

/** Those schemas that only one feature needs. */
export function featuresOfSchemas(document: OpenApi): ReadonlyMap<string, string> {
  const needs = new Map<string, Set<string | undefined>>();
  for (const endpoint of listEndpoints(document)) {
    const { parameters, requestBody, responses } = endpoint.operation;
    for (const name of schemasIn(document, [parameters, requestBody, responses])) {
      needs.set(name, (needs.get(name) ?? new Set()).add(featureOf(endpoint)));
    }
  }
  return new Map(
    [...needs].flatMap(([name, [feature, ...others]]) =>
      feature === undefined || others.length > 0 ? [] : [[name, feature]],
    ),
  );
}

/** The schemas that something refers to, and those that these refer to. */
function schemasIn(document: OpenApi, node: unknown, found = new Set<string>()): Set<string> {
  if (typeof node !== 'object' || node === null) return found;
  for (const [key, value] of Object.entries(node)) {
    if (key !== '$ref' || typeof value !== 'string') schemasIn(document, value, found);
    else if (!found.has(nameOf(value))) {
      found.add(nameOf(value));
      schemasIn(document, schemaOf(document, { $ref: value }), found);
    }
  }
  return found;
}

/** The OpenAPI document as text, with what only some deployments have in places of its own. */
export function writeDocument(served: Record<string, unknown>, document: OpenApi): string {
  const { paths, components } = served as { paths: object; components: { schemas: object } };
  const ofPaths = new Map(
    listEndpoints(document).flatMap((endpoint) => {
      const feature = featureOf(endpoint);
      return feature === undefined ? [] : [[endpoint.path, feature] as const];
    }),
  );
  const parts = {
    paths: membersOf(paths, ofPaths),
    schemas: membersOf(components.schemas, featuresOfSchemas(document)),
  };
  const text = JSON.stringify({ ...served, paths: '@paths', components: { ...components, schemas: '@schemas' } });
  return text.replace(/"@(paths|schemas)"/g, (_, name: keyof typeof parts) => parts[name]);
}

/** Those that are always there come last, so that each of the others can have a comma after it. */
function membersOf(object: object, features: ReadonlyMap<string, string>): string {
  const members = Object.entries(object).map(([name, value]) => [name, `"${name}":${JSON.stringify(value)}`] as const);
  const always = members.filter(([name]) => !features.has(name)).map(([, text]) => text);
  const some = members.flatMap(([name, text]) => (features.has(name) ? [where(features.get(name), `${text},`)] : []));
  return `{${some.join('')}${always.join(',')}}`;
}
