import type { Json, Node } from '../../../json/scan.ts';
import { isPlace, isVoid, mostSeals, signedBlocksIn } from '../seal.ts';
import { quote, type Raw, type ReasoningBlock, type TextPart } from './model-request.ts';
import { refuse, refuseType, requireKind, typeOf } from './refuse-item.ts';

/** One request while it is read. */
export interface RequestReader {
  readonly json: Json;
  /** Opens what was sealed for this caller; undefined for anything else. */
  readonly open: (text: string) => string | undefined;
  readonly leftOut: Node[];
  readonly unread: Node[];
  /** How many tools it has read. */
  tools: number;
}

export function createRequestReader(json: Json, open: RequestReader['open']): RequestReader {
  let sealsLeft = mostSeals;
  return {
    json,
    leftOut: [],
    unread: [],
    tools: 0,
    open(text) {
      sealsLeft -= 1;
      return sealsLeft < 0 ? undefined : open(text);
    },
  };
}

/** What vendors allow where tools are searched. Each gets a name, and some of those are kept while the answer runs. */
const mostTools = 10_000;

/** Counts a tool, wherever the request has it. */
export function countTool(reader: RequestReader, at: Node): void {
  reader.tools += 1;
  if (reader.tools <= mostTools) return;
  const most = `a request has at most ${mostTools}, those that searches found included`;
  refuse(reader, at, `is one tool too many: ${most}. Send fewer.`);
}

/** What was sealed here says what the model thought, or holds the very blocks; else there is what was shown of it. Of void blocks nothing is left. */
export function readReasoning(
  { open, leftOut }: RequestReader,
  at: Node,
  seal: string | undefined,
  shown: Raw | undefined,
): Omit<ReasoningBlock, 'at'> {
  const opened = seal === undefined ? undefined : open(seal);
  const signed = opened === undefined ? undefined : signedBlocksIn(opened);
  if (signed?.some(isVoid)) {
    const kept = signed.filter((block) => !isVoid(block));
    if (!kept.some((block) => !isPlace(block))) return { text: undefined };
    leftOut.push(at);
    return { text: shown, signed: kept };
  }
  if (signed !== undefined) return { text: shown, signed };
  return { text: opened === undefined ? shown : quote(opened) };
}

/**
 * Leaves out a part, block or item whose type nobody here knows: agents send new ones every month, and one must not end a conversation.
 * What is `known` has content that would be lost, and is refused: `what` goes on after the place and the type.
 */
export function leaveUnknown(reader: RequestReader, at: Node, known: RegExp, what: string): undefined {
  const type = typeOf(reader, at);
  if (type === '' || known.test(type)) refuseType(reader, at, what);
  reader.unread.push(at);
}

/** Of what can't be translated wherever it stands. */
export const cantTake = "is of a kind that this model can't take. Send text instead.";

export const toText = (text: Raw): TextPart => ({ kind: 'text', text });

/** Reads the elements of a list, except those that nothing comes of. */
export function readList<T>(reader: RequestReader, list: Node, read: (element: Node) => T | undefined): T[] {
  requireKind(reader, list, 'array');
  const all: T[] = [];
  for (const element of reader.json.elements(list)) {
    const one = read(element);
    if (one !== undefined) all.push(one);
  }
  return all;
}

/** Reads the parts of a content. A text is its own only part. */
export function readContent<T>(
  reader: RequestReader,
  content: Node,
  fromText: (text: string) => T,
  fromPart: (part: Node) => T | undefined,
): T[] {
  requireKind(reader, content, 'string', 'array');
  if (reader.json.kind(content) === 'string') return [fromText(reader.json.raw(content))];
  return readList(reader, content, fromPart);
}
