import type { Json, Node } from '../json/scan.ts';
import { stringMember } from './envelope.ts';

/** How many messages and parts of one are read. An opening that is the same so far is the same conversation. */
const mostRead = 1_000;

/**
 * The texts of a `content`: itself, or those of its parts. Not the rest, because cache marks beside them move from turn to turn.
 */
export function textsOf(body: Json, content: Node | undefined): Node[] {
  if (content === undefined) return [];
  if (body.kind(content) === 'string') return [content];
  const texts: Node[] = [];
  for (const part of firstOf(body, content)) {
    const text = body.member(part, 'text');
    if (text !== undefined && body.kind(text) === 'string') texts.push(text);
  }
  return texts;
}

/** The texts of the instructions before the first user message, and of that message. */
export function openingOf(body: Json, messages: Node | undefined): Node[] {
  const texts: Node[] = [];
  for (const message of messages === undefined ? [] : firstOf(body, messages)) {
    const role = stringMember(body, message, 'role');
    if (role === 'system' || role === 'developer' || role === 'user') {
      for (const text of textsOf(body, body.member(message, 'content'))) texts.push(text);
    }
    if (role === 'user') break;
  }
  return texts;
}

function* firstOf(body: Json, array: Node): Generator<Node> {
  let left = mostRead;
  for (const element of body.elements(array)) {
    if (left-- === 0) return;
    yield element;
  }
}
