import type { ValueSchema } from '../../lambda/settings/read-settings.ts';
import { nameFaultOf } from '../config.ts';
import { stageName } from '../deployment-block.ts';
import { type Described, describedSettings } from './described.ts';

/** The JSON schema of gateway.json, for completion and checks in editors. The synthesis checks more. */
export function renderSchema(): string {
  const settings = [...describedSettings.values()].flat().filter(({ name }) => nameFaultOf(name) === undefined);
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Settings of a private inference gateway',
    type: 'object',
    additionalProperties: false,
    properties: {
      $schema: { type: 'string' },
      defaults: { $ref: '#/definitions/settings' },
      stages: {
        type: 'object',
        propertyNames: { pattern: stageName.source },
        additionalProperties: { $ref: '#/definitions/settings' },
      },
    },
    definitions: {
      settings: {
        type: 'object',
        additionalProperties: false,
        properties: Object.fromEntries(settings.map((one) => [one.name, renderSetting(one)])),
        patternProperties: ofFurtherUpstreams(settings),
      },
    },
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** `UPSTREAM_2_BASE_URL` has the schema of `UPSTREAM_BASE_URL`. */
function ofFurtherUpstreams(settings: readonly Described[]) {
  const own = ['upstream', 'translation'].flatMap((section) => describedSettings.get(section) ?? []);
  const entries = settings
    .filter((one) => own.includes(one))
    .map(({ name }) => [
      name.replace(/^UPSTREAM_(.*)$/, '^UPSTREAM_([2-9]|[1-9]\\d+)_$1$'),
      { $ref: `#/definitions/settings/properties/${name}` },
    ]);
  return Object.fromEntries(entries);
}

function renderSetting({ setting: { schema, fallback }, description }: Described) {
  return {
    description: description.replace(/\[([^\]]+)\]\(([^)]+)\)/g, '$1 (docs/$2)'),
    ...(fallback && { default: schema?.type === undefined ? fallback : JSON.parse(fallback) }),
    ...renderValue(schema),
  };
}

/** The strings that are accepted for a type. */
const texts = { integer: '^\\d*$', number: '^[\\d.]*$', boolean: '^(true|false)?$', object: '' };

/** A value may be given as it is or as a string, and an empty string unsets a default. */
function renderValue({ type, enum: values, pattern, ...bounds }: ValueSchema = {}) {
  if (values !== undefined) return { enum: [...new Set([...values, ...values.map(String), ''])] };
  if (type === undefined) return { type: 'string', ...(pattern && { pattern: `^$|${pattern}` }) };
  return { type: [type, 'string'], ...bounds, ...(texts[type] && { pattern: texts[type] }) };
}
