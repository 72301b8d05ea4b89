import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../lambda/settings/json.ts';
import { ConfigError } from '../lambda/settings/read-settings.ts';

type Values = Readonly<Record<string, unknown>>;

export const stageName = /^[a-z][a-z0-9-]{0,19}$/;

/** The stage if none is named. */
export const defaultStage = 'dev';

/** The operator's own file, with the shape of cdk.json's `gateway` block, so that upgrades never conflict with it. */
export const ownFile = 'gateway.json';

/** Undefined if there is no such file: it is optional. */
export function readOwnFile(folder: string): unknown {
  try {
    return JSON.parse(readFileSync(join(folder, ownFile), 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) throw new ConfigError([`${ownFile} is not valid JSON: ${error.message}`]);
    if (Object(error).code === 'ENOENT') return {};
    throw error;
  }
}

/** The `gateway` block of a checkout's cdk.json. */
export function readSharedBlock(folder: string): unknown {
  return JSON.parse(readFileSync(join(folder, 'cdk.json'), 'utf8')).context?.gateway;
}

/** Merges one stage of the `gateway` block over its defaults, and the operator's file over both. */
export function readStageBlock(block: unknown, stage: unknown = defaultStage, own: unknown = {}) {
  const files = [
    readParts('gateway', '.', block),
    readParts(ownFile, ', ', { defaults: {}, stages: {}, ...toValues(ownFile, own) }),
  ];
  const names = [...new Set(files.flatMap(({ stages }) => Object.keys(stages.values)))];
  if (typeof stage !== 'string' || !names.includes(stage)) {
    throw new ConfigError([`gateway.stages: ${stage} is no stage (there are: ${names.join(', ')})`]);
  }
  if (!stageName.test(stage)) {
    throw new ConfigError([`gateway.stages: ${stage} must be 1 to 20 lower-case letters, digits and dashes`]);
  }
  const stageParts = files
    .filter(({ stages }) => Object.hasOwn(stages.values, stage))
    .map(({ stages }) => partOf(stages, '.', stage));
  const parts = [...files.map(({ defaults }) => defaults), ...stageParts];
  /** Where to correct a fault, which begins with a setting's name. */
  const placeOf = (fault: string): string => {
    const [name = ''] = fault.split(' ');
    const found = parts.findLast(({ values }) => Object.hasOwn(values, name)) ?? parts.at(-1);
    return found?.place ?? '';
  };
  return { stage, values: Object.assign({}, ...parts.map(({ values }) => values)) as Values, placeOf };
}

function readParts(place: string, separator: string, block: unknown) {
  const file = { place, values: toValues(place, block) };
  // Editors find the schema by `$schema`.
  const parts = ['$schema', 'defaults', 'stages'];
  for (const name of Object.keys(file.values).filter((one) => !parts.includes(one))) {
    throw new ConfigError([`${place}: ${name} has no place here; settings stand in defaults or in one of the stages`]);
  }
  return { stages: partOf(file, separator, 'stages'), defaults: partOf(file, separator, 'defaults') };
}

function partOf({ place, values }: { place: string; values: Values }, separator: string, name: string) {
  const within = place + separator + name;
  return { place: within, values: toValues(within, values[name]) };
}

function toValues(place: string, value: unknown): Values {
  if (isObject(value)) return value;
  throw new ConfigError([`${place}: must be an object`]);
}
