import { presentMember, stringMember } from '../../json/read.ts';
import type { Node } from '../../json/scan.ts';
import { refuse, requireKind } from '../model/request/refuse-item.ts';
import type { RequestReader } from '../model/request/request-reader.ts';

/** This version refuses sampling parameters, even defaults, and citations of the user: https://platform.claude.com/docs/en/api/versioning */
const strictVersion = '2026-10-21';

const notPermitted = `is not permitted in version ${strictVersion} of this API. Leave it out.`;

/** Refuses what the client's API version refuses, as far as translation would accept it. */
export function checkVersion(reader: RequestReader, version: string | undefined, messages: Node | undefined): void {
  const { json } = reader;
  if (version !== strictVersion) return;
  for (const name of ['temperature', 'top_p', 'top_k']) {
    const value = presentMember(json, json.root, name);
    if (value !== undefined) refuse(reader, value, notPermitted);
  }
  if (messages === undefined) return;
  requireKind(reader, messages, 'array');
  for (const message of json.elements(messages)) {
    const content =
      stringMember(json, message, 'role') === 'user' ? presentMember(json, message, 'content') : undefined;
    for (const block of content === undefined ? [] : json.elements(content)) {
      if (stringMember(json, block, 'type') !== 'text') continue;
      const citations = presentMember(json, block, 'citations');
      // An empty list cites nothing.
      const isEmpty =
        citations !== undefined && json.kind(citations) === 'array' && json.next(citations) === citations + 1;
      if (citations !== undefined && !isEmpty) refuse(reader, citations, notPermitted);
    }
  }
}
