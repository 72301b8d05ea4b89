import { here } from './current.ts';

export const setTimeout = <T>(delay = 1, value?: T) =>
  new Promise<T | undefined>((resolve) => here().setTimer(() => resolve(value), Math.max(1, delay), false));

export const setImmediate = <T>(value?: T) =>
  new Promise<T | undefined>((resolve) => here().setImmediate(() => resolve(value)));
