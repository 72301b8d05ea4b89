import { stringMember } from '../../../json/read.ts';
import type { Node } from '../../../json/scan.ts';
import { refuse, requireKind } from './refuse-item.ts';
import type { RequestReader } from './request-reader.ts';

/** Reads the value of a member. */
export type Read<T> = (reader: RequestReader, value: Node) => T;

export const node: Read<Node> = (_reader, value) => value;
/** The JSON text. */
export const raw: Read<string> = ({ json }, value) => json.raw(value);
export const isTrue: Read<boolean> = ({ json }, value) => json.raw(value) === 'true';

export const number: Read<number> = (reader, value) => {
  requireKind(reader, value, 'number');
  return Number(reader.json.raw(value));
};
/** The node, if its value is true. */
export const whereTrue: Read<Node | undefined> = ({ json }, value) => (json.raw(value) === 'true' ? value : undefined);
/** Whether a `cache_control` asks for the prompt to be cached. */
export const isCacheMark: Read<boolean> = ({ json }, value) => stringMember(json, value, 'type') === 'ephemeral';
/** The node of a string. */
export const stringNode: Read<Node> = (reader, value) => {
  requireKind(reader, value, 'string');
  return value;
};
/** The JSON text of a string, with its quotes. */
export const string: Read<string> = (reader, value) => reader.json.raw(stringNode(reader, value));
/** A decoded string. */
export const text: Read<string> = (reader, value) => reader.json.string(stringNode(reader, value));

/** In characters. Names are hashed, compared and written many times. */
const longestName = 1_000;

/** The name of a tool. */
export const name: Read<string> = (reader, value) => {
  const { json } = reader;
  if (json.end(value) - json.start(value) <= longestName) return text(reader, value);
  return refuse(reader, value, `has more than ${longestName} characters. Shorten it.`);
};
