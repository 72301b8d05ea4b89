import { hash } from 'node:crypto';
import { isObject, parseJson } from '../../lambda/settings/json.ts';
import { splitList } from '../../lambda/settings/kinds.ts';
import { headerMap } from '../../lambda/settings/upstream-definitions.ts';
import { readUpstreamName } from '../../lambda/settings/variable-names.ts';
import { CommandError } from '../command-line.ts';

/** The content of the upstreams' secret, by the names of the settings that it replaces. */
export type Members = Readonly<Record<string, unknown>>;

/** Identifies a key without revealing it. */
export const fingerprint = (key: string): string => hash('sha256', key).slice(0, 12);

/** The parts of a member by what may be shown of each: a key's fingerprint, or a header's name. */
type Parts = ReadonlyMap<string, string>;

interface Kind {
  readonly one: string;
  /** Undefined for a value that the gateway can't read. */
  readonly read: (value: unknown) => Parts | undefined;
  readonly write: (parts: Parts) => unknown;
  /** Parses an operator's input; undefined if it can't be sent in a header. */
  readonly parse: (input: string) => Parts | undefined;
  readonly expects: string;
}

const keys: Kind = {
  one: 'key',
  read: (value) => (typeof value === 'string' ? byFingerprint(splitList(value)) : undefined),
  write: (parts) => [...parts.values()].join(','),
  parse: (input) => {
    const given = input.split(/\r?\n/).flatMap(splitList);
    return given.every((key) => /^[\x21-\x7e]+$/.test(key)) ? byFingerprint(given) : undefined;
  },
  expects: 'keys, each without blanks, in lines or separated by commas',
};

const headers: Kind = {
  one: 'header',
  read: (value) => {
    const read = headerMap.parse(typeof value === 'string' ? value : JSON.stringify(value));
    return read && new Map(Object.entries(read));
  },
  write: (parts) => Object.fromEntries(parts),
  parse: (input) => headers.read(input),
  expects: headerMap.expects,
};

const byFingerprint = (list: readonly string[]): Parts => new Map(list.map((key) => [fingerprint(key), key]));

const kinds: Readonly<Record<string, Kind>> = { API_KEYS: keys, HEADERS: headers };

/** Undefined for a name that the gateway does not read. */
function kindOf(name: string): Kind | undefined {
  const own = readUpstreamName(name)?.own ?? '';
  return Object.hasOwn(kinds, own) ? kinds[own] : undefined;
}

/** The error doesn't quote an unknown name, which may be a key typed in its place. */
export function knownKind(member: string): Kind {
  const kind = kindOf(member);
  if (kind !== undefined) return kind;
  throw new CommandError(
    'the list must be UPSTREAM_API_KEYS or UPSTREAM_HEADERS, or those of UPSTREAM_2 and so on; a key comes on standard input, never as a word',
  );
}

export const isMember = (name: string): boolean => kindOf(name) !== undefined;

/** Like the gateway, takes text that is not a JSON object for the first upstream's keys. */
export function parseMembers(text: string): Members {
  const value = parseJson(text);
  return isObject(value) ? value : { UPSTREAM_API_KEYS: text };
}

/** What may be shown of a member. */
export interface Shown {
  readonly member: string;
  /** `key`, `header`, or nothing for a member that the gateway does not read. */
  readonly one: string | undefined;
  readonly parts: readonly string[];
}

export function showMember(members: Members, member: string): Shown {
  const kind = kindOf(member);
  return { member, one: kind?.one, parts: [...(kind?.read(members[member]) ?? new Map()).keys()] };
}

/** Adds keys or headers to a member; a header of the same name is replaced. */
export function addParts(members: Members, member: string, input: string) {
  const kind = knownKind(member);
  if (input.trim() === '') throw new CommandError(`nothing came on standard input: it takes ${kind.expects}`);
  const given = kind.parse(input.trim());
  if (given === undefined) throw new CommandError(`standard input must hold ${kind.expects}`);
  const held = members[member] === undefined ? new Map() : kind.read(members[member]);
  if (held === undefined) {
    throw new CommandError(`${member} holds something that the gateway can't read: remove it, then add it anew`);
  }
  const added = [...given].filter(([name, value]) => held.get(name) !== value).map(([name]) => name);
  const changed = added.length === 0 ? members : { ...members, [member]: kind.write(new Map([...held, ...given])) };
  return { members: changed, outcome: { ...showMember(changed, member), added } };
}

/** Removes one key or header, or the whole member if it has only one, or if the gateway can't read it. */
export function removePart(members: Members, member: string, which: string | undefined) {
  const { [member]: value, ...others } = members;
  const all = Object.keys(members).join(', ') || 'none';
  if (value === undefined) throw new CommandError(`there is no list of that name: there is ${all}`);
  const kind = kindOf(member);
  const held: Parts = kind?.read(value) ?? new Map();
  const names = [...held.keys()];
  if (which === undefined && held.size > 1) {
    throw new CommandError(`${member} holds ${names.length} ${kind?.one}s: name one of ${names.join(', ')}`);
  }
  const removed = which ?? names[0];
  if (removed !== undefined && !held.has(removed)) {
    throw new CommandError(`${member} holds none of that name: there is ${names.join(', ') || 'none'}`);
  }
  const rest = new Map([...held].filter(([name]) => name !== removed));
  const changed = kind && rest.size > 0 ? { ...members, [member]: kind.write(rest) } : others;
  return { members: changed, outcome: { ...showMember(changed, member), removed: removed ?? null } };
}
