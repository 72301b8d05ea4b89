import type { Dialect } from '../dialects/dialect.ts';
import { presentMember } from '../dialects/envelope.ts';
import type { Json, Node } from '../json/scan.ts';

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

type Headers = Readonly<Record<string, string | undefined>>;

/** What stays the same throughout a conversation: the first session id found, or else its opening texts. */
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
    if (member !== undefined && isText(body, member)) return [body.string(member)];
  }
  // Not decoded: a client writes its history the same way each time, and a prompt of megabytes would take twice the memory.
  return dialect.findOpening(body).map((node) => body.raw(node));
}

function isText(body: Json, node: Node): boolean {
  return body.kind(node) === 'string' && body.end(node) - body.start(node) > 2;
}
