import { eachMember, elements, presentMember } from '../../json/read.ts';
import type { Json, Node } from '../../json/scan.ts';
import { type TextKind, UpstreamFault } from '../model/answer/answer-sink.ts';

export interface FoundText {
  readonly kind: TextKind;
  readonly node: Node;
}

/** Finds the non-empty texts of a choice and its message, in the order in which a model writes them. */
export type FindTexts = (json: Json, choice: Node, message: Node | undefined) => readonly FoundText[];

/** The message of a choice, or the delta of a chunk's. */
export const messageOf = (json: Json, choice: Node): Node | undefined =>
  presentMember(json, choice, 'delta') ?? presentMember(json, choice, 'message');

/** Members that hold reasoning or the answer. Some servers send the same text under two names at once. */
const reasoning = ['reasoning_content', 'reasoning', 'reasoning_details'];
const answers = ['content', 'text'];

/** Creates a finder for one answer, which sees all of its chunks. */
export function createTextFinder(): FindTexts {
  /** Members that were seen to repeat another. They are ignored from then on, even when they come alone. */
  const duplicates = new Set<string>();

  function findIn(json: Json, holder: Node): readonly FoundText[] {
    const texts: FoundText[] = [];
    const read = (names: readonly string[], kind: TextKind): void => {
      let isRead = false;
      for (const name of names) {
        const value = duplicates.has(name) ? undefined : presentMember(json, holder, name);
        const found: FoundText[] = [];
        if (value !== undefined) addTexts(json, value, kind, found);
        if (isRead && found.length > 0) duplicates.add(name);
        else texts.push(...found);
        isRead ||= found.length > 0;
      }
    };
    read(reasoning, 'reasoning');
    read(answers, 'text');
    read(['refusal'], 'refusal');
    return texts;
  }

  return (json, choice, message) => {
    const texts = message === undefined ? [] : findIn(json, message);
    // Some servers send the text of a legacy completion beside an empty delta.
    return texts.length > 0 ? texts : findIn(json, choice);
  };
}

/** The members of a part that hold text, and its kind. */
const partTexts: Readonly<Record<string, TextKind>> = {
  text: 'text',
  thinking: 'reasoning',
  summary: 'reasoning',
  refusal: 'refusal',
};

/** Adds a string, or the texts of parts. A part's member decides the kind of its text. */
function addTexts(json: Json, node: Node, kind: TextKind, texts: FoundText[]): void {
  if (json.kind(node) === 'string') {
    if (json.end(node) - json.start(node) > 2) texts.push({ kind, node });
  } else if (json.kind(node) === 'array') {
    for (const part of elements(json, node)) addTexts(json, part, kind, texts);
  } else if (json.kind(node) === 'number') {
    throw new UpstreamFault('a text is a number');
  } else {
    eachMember(json, node, (name, member) => {
      const kindOfPart = Object.hasOwn(partTexts, name) ? partTexts[name] : undefined;
      if (kindOfPart !== undefined) addTexts(json, member, kind === 'text' ? kindOfPart : kind, texts);
    });
  }
}
