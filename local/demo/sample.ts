import { isObject } from '../../lambda/settings/json.ts';
import { asObject, asObjects, asText, type JsonObject } from '../upstream/json.ts';

/** Generates a value that fits a JSON schema; `word` makes a string for a property's name. */
export function sampleOf(schema: JsonObject, word: (property: string) => string): unknown {
  const build = (given: JsonObject, property: string, depth: number): unknown => {
    const part = depth < 20 ? resolve(schema, given) : {};
    if ('const' in part) return part.const;
    if (Array.isArray(part.enum)) return part.enum[0];
    const [variant] = asObjects(part.anyOf ?? part.oneOf);
    if (variant) return build(variant, property, depth + 1);
    switch (typeOf(part)) {
      case 'object':
        return Object.fromEntries(
          Object.entries(asObject(part.properties))
            .filter(([name]) => !Array.isArray(part.required) || part.required.includes(name))
            .map(([name, value]) => [name, build(asObject(value), name, depth + 1)]),
        );
      case 'array':
        return Array.from({ length: Math.max(1, asNumber(part.minItems) ?? 1) }, () =>
          build(asObject(part.items), property, depth + 1),
        );
      case 'integer':
      case 'number':
        return asNumber(part.minimum) ?? Math.min(7, asNumber(part.maximum) ?? 7);
      case 'boolean':
        return true;
      case 'null':
        return null;
      default:
        return formatted[asText(part.format)] ?? word(property);
    }
  };
  return build(schema, '', 0);
}

const formatted: Readonly<Record<string, string>> = {
  date: '2026-11-21',
  'date-time': '2026-11-21T12:00:00Z',
  time: '12:00:00Z',
  email: 'ada@example.com',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000001',
};

const asNumber = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

/** The first type other than null. A schema with properties but no type is an object. */
function typeOf(schema: JsonObject): unknown {
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  return types.find((type) => type !== 'null' && type !== undefined) ?? (schema.properties ? 'object' : types[0]);
}

/** Resolves `#/$defs/name`, also through several definitions. */
function resolve(root: JsonObject, schema: JsonObject): JsonObject {
  let part = schema;
  for (let hops = 0; typeof part.$ref === 'string' && hops < 20; hops += 1) {
    const path = part.$ref.split('/').slice(1);
    const target = path.reduce<unknown>((value, name) => asObject(value)[name], root);
    part = isObject(target) ? target : {};
  }
  return part;
}
