import { ConfigError } from '../lambda/settings/read-settings.ts';
import { nearest } from './nearest.ts';

type Values = Readonly<Record<string, unknown>>;

/** The values of one stage of the `gateway` block of cdk.json, and where in it each one is. */
export interface StageBlock {
  readonly stage: string;
  readonly values: Values;
  /** The part of the block in which to correct a fault, which begins with a setting's name. */
  placeOf(fault: string): string;
}

/** The stage if none is named. */
export const defaultStage = 'dev';

/** Lays a stage's own values over the defaults. */
export function readStageBlock(block: unknown, stage: unknown = defaultStage): StageBlock {
  const { defaults, stages, ...unknown } = toValues('gateway', block);
  for (const name of Object.keys(unknown)) {
    throw new ConfigError([`gateway: ${name} has no place here; settings stand in defaults or in one of the stages`]);
  }
  const known = toValues('gateway.stages', stages);
  const shared = toValues('gateway.defaults', defaults);
  if (typeof stage !== 'string' || !Object.hasOwn(known, stage)) throw new ConfigError([unknownStage(stage, known)]);
  if (!/^[a-z][a-z0-9-]{0,19}$/.test(stage)) {
    throw new ConfigError([`gateway.stages: ${stage} must be 1 to 20 lower-case letters, digits and dashes`]);
  }
  const place = `gateway.stages.${stage}`;
  const own = toValues(place, known[stage]);
  return {
    stage,
    values: { ...shared, ...own },
    placeOf: (fault) => {
      const [name = ''] = fault.split(' ');
      return Object.hasOwn(shared, name) && !Object.hasOwn(own, name) ? 'gateway.defaults' : place;
    },
  };
}

function unknownStage(stage: unknown, stages: Values): string {
  const names = Object.keys(stages);
  const meant = nearest(String(stage), names);
  return `gateway.stages: ${stage} is no stage${meant ? `: did you mean ${meant}?` : ''} (there are: ${names.join(', ')})`;
}

function toValues(place: string, value: unknown): Values {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new ConfigError([`${place}: must be an object`]);
}
