import { createHmac, type KeyObject } from 'node:crypto';
import type { Dialect } from '../dialects/dialect.ts';
import { presentMember } from '../json/read.ts';
import type { Json } from '../json/scan.ts';

/** The headers in which agents name their sessions. None goes upstream. */
export const sessionHeaders = [
  'x-claude-code-session-id',
  'session-id',
  'session_id',
  'thread-id',
  'x-session-affinity',
  'x-opencode-session',
  'x-session-id',
];

export type Headers = Readonly<Record<string, string | undefined>>;

/** What identifies a conversation: equal on each of its turns, and never equal to anyone else's. */
export interface Conversation {
  readonly caller: string;
  /** The client's id for it, or else the texts that it began with. */
  readonly traits: readonly string[];
}

/** What stays the same throughout a conversation: the first session id found, or else the texts that it begins with. */
export function readTraits(headers: Headers, body: Json, dialect: Dialect): readonly string[] {
  for (const name of sessionHeaders) {
    const value = headers[name]?.trim();
    if (value) return [value];
  }
  const members = [
    body.member(body.root, 'prompt_cache_key'),
    presentMember(body, body.member(body.root, 'metadata'), 'user_id'),
    body.member(body.root, 'session_id'),
  ];
  for (const member of members) {
    const isText = member !== undefined && body.kind(member) === 'string' && body.end(member) - body.start(member) > 2;
    if (isText) return [body.string(member)];
  }
  // Not decoded: a client writes its history the same way each time, and a prompt of megabytes would take twice the memory.
  return dialect.findConversationStart(body).map((node) => body.raw(node));
}

/** Orders the keys of an upstream for one conversation, the one that it stays with first. */
export type RankKeys = (keys: readonly string[], conversation: Conversation) => Promise<readonly string[]>;

/**
 * Rendezvous hashing: all environments rank alike without storing anything, and a key that is added or removed moves only
 * its own conversations. The hash is keyed, so that nobody can work out who shares a key, and includes the caller, so that
 * nobody can aim at someone else's key.
 * https://www.eecs.umich.edu/techreports/cse/96/CSE-TR-316-96.pdf
 */
export function createRankKeys(readSubkey: (label: string) => Promise<KeyObject>): RankKeys {
  return async (keys, { caller, traits }) => {
    if (keys.length < 2) return keys;
    const secret = await readSubkey('conversations');
    const hash = createHmac('sha256', secret);
    for (const part of [caller, ...traits]) hash.update(`${part.length}:`).update(part);
    const conversation = hash.digest();
    const weightOf = (key: string) => createHmac('sha256', secret).update(conversation).update(key).digest();
    return keys
      .map((key) => ({ key, weight: weightOf(key) }))
      .sort((a, b) => b.weight.compare(a.weight))
      .map(({ key }) => key);
  };
}
