import type { Json, Node } from '../../../json/scan.ts';
import { isPlace, isVoid, mostSeals, signedBlocksIn } from '../seal.ts';
import { quote, type Raw, type ReasoningBlock, type TextPart } from './model-request.ts';
import { refuse, refuseType, requireKind, typeOf } from './refuse-item.ts';

/** The state of reading one request. */
export interface RequestReader {
  readonly json: Json;
  /** Opens a seal of this caller; undefined for anything else. */
  readonly open: (text: string) => string | undefined;
  readonly leftOut: Node[];
  readonly unknown: Node[];
  /** The number of tools so far. */
  tools: number;
}

export function createRequestReader(json: Json, open: RequestReader['open']): RequestReader {
  let sealsLeft = mostSeals;
  return {
    json,
    leftOut: [],
    unknown: [],
    tools: 0,
    open(text) {
      sealsLeft -= 1;
      return sealsLeft < 0 ? undefined : open(text);
    },
  };
}

/** The vendors' limit for tools that can be searched. Each tool takes memory for its names, in part until the answer is complete. */
const mostTools = 10_000;

/** Counts a tool, wherever it stands in the request. */
export function countTool(reader: RequestReader, at: Node): void {
  reader.tools += 1;
  if (reader.tools <= mostTools) return;
  const most = `a request has at most ${mostTools}, those that searches found included`;
  refuse(reader, at, `is one tool too many: ${most}. Send fewer.`);
}

/**
 * Reads reasoning that the client sends back. A seal of this gateway holds the upstream's own text or its signed blocks. Without one, the
 * text that was shown has to do. Void blocks are dropped.
 */
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
 * Leaves out a part, block or item of an unknown type: agents send new ones every month, and one must not end a conversation. `known`
 * types have content that would be lost, so they are refused. `what`: the rest of the message, after the place and the type.
 */
export function leaveUnknown(reader: RequestReader, at: Node, known: RegExp, what: string): undefined {
  const type = typeOf(reader, at);
  if (type === '' || known.test(type)) refuseType(reader, at, what);
  reader.unknown.push(at);
}

/** For what can't be translated anywhere. */
export const cantTake = "is of a kind that this model can't take. Send text instead.";

export const toText = (text: Raw): TextPart => ({ kind: 'text', text });

/** Reads the elements of a list, and skips those that `read` returns undefined for. */
export function readList<T>(reader: RequestReader, list: Node, read: (element: Node) => T | undefined): T[] {
  requireKind(reader, list, 'array');
  const all: T[] = [];
  for (const element of reader.json.elements(list)) {
    const one = read(element);
    if (one !== undefined) all.push(one);
  }
  return all;
}

/** Reads the parts of a content. A string counts as one part. */
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
