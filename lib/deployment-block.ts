import { ConfigError, isObject } from '../lambda/settings/read.ts';

type Values = Readonly<Record<string, unknown>>;

/** The stage if none is named. */
export const defaultStage = 'dev';

/** Reads one stage of the `gateway` block of cdk.json, its own values over the defaults. */
export function readStageBlock(block: unknown, stage: unknown = defaultStage) {
  const { defaults, stages, ...unknown } = toValues('gateway', block);
  for (const name of Object.keys(unknown)) {
    throw new ConfigError([`gateway: ${name} has no place here; settings stand in defaults or in one of the stages`]);
  }
  const known = toValues('gateway.stages', stages);
  const shared = toValues('gateway.defaults', defaults);
  if (typeof stage !== 'string' || !Object.hasOwn(known, stage)) {
    throw new ConfigError([`gateway.stages: ${stage} is no stage (there are: ${Object.keys(known).join(', ')})`]);
  }
  if (!/^[a-z][a-z0-9-]{0,19}$/.test(stage)) {
    throw new ConfigError([`gateway.stages: ${stage} must be 1 to 20 lower-case letters, digits and dashes`]);
  }
  const place = `gateway.stages.${stage}`;
  const own = toValues(place, known[stage]);
  /** The part of the block in which to correct a fault, which begins with a setting's name. */
  const placeOf = (fault: string): string => {
    const [name = ''] = fault.split(' ');
    return Object.hasOwn(shared, name) && !Object.hasOwn(own, name) ? 'gateway.defaults' : place;
  };
  const values: Values = { ...shared, ...own };
  return { stage, values, placeOf };
}

function toValues(place: string, value: unknown): Values {
  if (isObject(value)) return value;
  throw new ConfigError([`${place}: must be an object`]);
}
