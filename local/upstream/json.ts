import { isObject } from '../../lambda/settings/json.ts';

export type JsonObject = { readonly [name: string]: unknown };

/** The value if it is an object, else an empty one, so that reading loose requests needs no further checks. */
export const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** The objects of a list; none if it is not a list. */
export const asObjects = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter((item) => isObject(item)) : [];

export const asText = (value: unknown): string => (typeof value === 'string' ? value : '');
