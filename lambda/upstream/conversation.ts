import { createHmac, type KeyObject } from 'node:crypto';
import type { Dialect } from '../dialects/dialect.ts';
import { presentMember } from '../json/read.ts';
import type { Json } from '../json/scan.ts';

/** The headers in which agents send a session id. None is forwarded. */
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

/** Identifies a conversation: the same on each of its turns, and different from any other caller's. */
export interface Conversation {
  readonly caller: string;
  /** The client's session id, or else the texts that the conversation begins with. */
  readonly traits: readonly string[];
}

/** What stays the same throughout a conversation: the first session id found, or else the texts it begins with. */
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
  // Raw, not decoded: a client serializes its history the same way each time, and decoding would double the memory of a huge prompt.
  return dialect.findConversationStart(body).map((node) => body.raw(node));
}

/** Ranks an upstream's keys for one conversation. The first is the one that it sticks to. */
export type RankKeys = (keys: readonly string[], conversation: Conversation) => Promise<readonly string[]>;

/**
 * Rendezvous hashing: all environments agree on the ranking without shared state, and adding or removing a key moves only that key's
 * conversations. The hash is keyed, so that nobody can work out who shares a key, and includes the caller, so that nobody can
 * target someone else's key.
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
