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
  if (typeof stage !== 'string' || !Object.hasOwn(known, stage)) throw new ConfigError([unknownStage(stage, known)]);
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

function unknownStage(stage: unknown, stages: Values): string {
  const names = Object.keys(stages);
  const meant = nearest(String(stage), names);
  return `gateway.stages: ${stage} is no stage${meant ? `: did you mean ${meant}?` : ''} (there are: ${names.join(', ')})`;
}

function toValues(place: string, value: unknown): Values {
  if (isObject(value)) return value;
  throw new ConfigError([`${place}: must be an object`]);
}

/** The name that a misspelt word most likely means; undefined if in all of them more than this share of the letters is wrong. */
export function nearest(word: string, names: readonly string[], share = 0.5): string | undefined {
  const ranked = names
    .map((name) => ({ name, distance: distanceBetween(fold(word), fold(name)) }))
    .sort((a, b) => a.distance - b.distance);
  const [best] = ranked;
  return best && best.distance <= Math.max(word.length, best.name.length) * share ? best.name : undefined;
}

/** Makes `guestLimit`, `guest-limit` and `GUEST_LIMIT` equal. */
function fold(text: string): string {
  return text.toLowerCase().replace(/[-_]/g, '');
}

/** How many letters must be added, removed, changed or swapped with the next (Levenshtein), row by row. */
function distanceBetween(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  let twoAbove: number[] = [];
  for (const [row, letter] of [...a].entries()) {
    const current = [row + 1];
    for (const [column, other] of [...b].entries()) {
      const change = (above[column] ?? 0) + (letter === other ? 0 : 1);
      const isSwap = letter === b[column - 1] && other === a[row - 1];
      const swap = isSwap ? (twoAbove[column - 1] ?? 0) + 1 : change;
      current.push(Math.min(change, swap, (above[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    twoAbove = above;
    above = current;
  }
  return above.at(-1) ?? 0;
}
