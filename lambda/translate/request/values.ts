import type { Node } from '../../json/scan.ts';
import type { Reading } from './reading.ts';
import { requireKind } from './refusals.ts';

/** Reads the value of a member that is translated. */
export type Read<T> = (reading: Reading, value: Node) => T;

export const node: Read<Node> = (_reading, value) => value;
/** As it is written. */
export const raw: Read<string> = ({ json }, value) => json.raw(value);
export const isTrue: Read<boolean> = ({ json }, value) => json.raw(value) === 'true';

export const number: Read<number> = (reading, value) => {
  requireKind(reading, value, 'number');
  return Number(reading.json.raw(value));
};
/** Where it stands, if it is true. */
export const whereTrue: Read<Node | undefined> = ({ json }, value) => (json.raw(value) === 'true' ? value : undefined);
/** Where a string stands. */
export const stringNode: Read<Node> = (reading, value) => {
  requireKind(reading, value, 'string');
  return value;
};
/** A string as it is written, with its quotes. */
export const string: Read<string> = (reading, value) => reading.json.raw(stringNode(reading, value));
/** What a string spells. */
export const text: Read<string> = (reading, value) => reading.json.string(stringNode(reading, value));
