import type { Json, Node } from '../json/scan.ts';
import { elements, stringMember } from './envelope.ts';

/**
 * The texts of a `content`: itself, or those of its parts. Not the rest, because cache marks beside them move from turn to turn.
 */
export function textsOf(body: Json, content: Node | undefined): Node[] {
  if (content === undefined) return [];
  if (body.kind(content) === 'string') return [content];
  return elements(body, content).flatMap((part) => {
    const text = body.member(part, 'text');
    return text !== undefined && body.kind(text) === 'string' ? [text] : [];
  });
}

/** The texts of the instructions before the first user message, and of that message. */
export function openingOf(body: Json, messages: Node | undefined): Node[] {
  const texts: Node[] = [];
  for (const message of elements(body, messages)) {
    const role = stringMember(body, message, 'role');
    if (role === 'system' || role === 'developer' || role === 'user') {
      for (const text of textsOf(body, body.member(message, 'content'))) texts.push(text);
    }
    if (role === 'user') break;
  }
  return texts;
}
