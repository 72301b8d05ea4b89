import type { Dialect } from '../dialects/dialect.ts';
import type { Json, Node } from '../json/scan.ts';

/** By these agents name their sessions. None goes upstream. */
const sessionHeaders = [
  'x-claude-code-session-id',
  'session-id',
  'session_id',
  'thread-id',
  'x-session-affinity',
  'x-opencode-session',
  'x-session-id',
];

type Headers = Readonly<Record<string, string | undefined>>;

/** What stays the same through the turns of a conversation: the first that is there of a session's id, or its opening words. */
export function readTraits(headers: Headers, body: Json, dialect: Dialect): readonly string[] {
  for (const name of sessionHeaders) {
    const value = headers[name]?.trim();
    if (value) return [value];
  }
  const metadata = body.member(body.root, 'metadata');
  const members = [
    body.member(body.root, 'prompt_cache_key'),
    metadata === undefined ? undefined : body.member(metadata, 'user_id'),
    body.member(body.root, 'session_id'),
  ];
  for (const member of members) {
    if (member !== undefined && isText(body, member)) return [body.string(member)];
  }
  // As they stand, as a client writes its history alike each time, and a decoded prompt of megabytes would be a second one.
  return dialect.findOpening(body).map((node) => body.raw(node));
}

function isText(body: Json, node: Node): boolean {
  return body.kind(node) === 'string' && body.end(node) - body.start(node) > 2;
}
