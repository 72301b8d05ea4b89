import { eachMember, stringMember } from '../../json/read.ts';
import type { Json, Node } from '../../json/scan.ts';
import type { MakeDelta, OutgoingEvent } from '../dialect.ts';
import type { ExpectedAnswer } from '../model/expected-answer.ts';
import type { Findings } from '../model/findings.ts';
import { createNarrow, eachText, namesIn, type VisitText } from '../model/places.ts';
import { keepSealed, sealed } from '../model/sealed.ts';

/** The members that hold the text of a block or its deltas, with the types of those deltas. */
const deltaTypes = new Map([
  ['text', 'text_delta'],
  ['thinking', 'thinking_delta'],
  ['content', 'compaction_delta'],
]);

/** Deltas without text: `input_json_delta` holds tool arguments, and `citations_delta` arrives whole. */
const wholeDelta = /^(input|citations)_/;

/** Which tool a call is for. */
const toolName = /^(server_)?name$/;

/** The members that are kept in objects of these types: a file in base64, and the name of one of the caller's tools. */
const keptMembers = new Map([
  ['base64', 'data'],
  ['tool_reference', 'tool_name'],
]);

/** Receives a text in a member of a block, with its place if the member has parts. */
export type AddText = (kind: string, ...text: Parameters<VisitText>) => void;

interface BlockReading {
  readonly addText: AddText;
  readonly isDelta: boolean;
  readonly isWhole: boolean;
  /** The block's index. */
  readonly index: number;
  readonly signedReasoning?: ExpectedAnswer['signedReasoning'];
}

/** Records the fields of a content block or, if `isDelta`, of a delta, in which every string counts as text. */
export function recordBlock(
  json: Json,
  block: Node,
  found: Findings,
  { addText, isDelta, isWhole, index, signedReasoning }: BlockReading,
): void {
  const type = stringMember(json, block, 'type') ?? '';
  const isCall = type.endsWith('tool_use');
  const isText = isDelta && !wholeDelta.test(type);
  const isShown = signedReasoning === 'shown';
  eachMember(json, block, (name, value) => {
    const isData = name === 'data' && type === 'redacted_thinking';
    if (isShown && (isData || name === 'signature') && json.kind(value) === 'string') found.signature(value, index);
    if (sealed.test(name) || isData || (isCall && toolName.test(name))) found.keep(value);
    else if (name === 'partial_json' || (isCall && name === 'input')) found.toolArguments(value, isWhole);
    else if (name === 'thinking' && isShown) found.toolArguments(value, isWhole);
    else if (isText) eachText(json, { name, value }, found, (...text) => addText(name, ...text));
    else if (json.kind(value) !== 'string') keepInside(json, value, found);
    // In other blocks, such as a tool's result, `content` arrives whole.
    else if (deltaTypes.has(name) && (name !== 'content' || type.startsWith('compaction')))
      addText(name, '', value, true);
  });
}

/** Keeps what programs read back, which search results, sources and citations hold at any depth. */
function keepInside(json: Json, value: Node, found: Findings): void {
  keepSealed(json, value, found);
  const end = json.next(value);
  for (let node = value; node < end; node += 1) {
    const name = keptMembers.get(stringMember(json, node, 'type') ?? '');
    const kept = name === undefined ? undefined : json.member(node, name);
    if (kept !== undefined) found.keep(kept);
  }
}

/** Makes deltas of the same kind. If the last event began a block with text, they are deltas for that block. */
export function deltasLike(last: OutgoingEvent): MakeDelta {
  const { type = last.type, content_block: begun, delta: lastDelta } = JSON.parse(last.data);
  const isBlock = begun !== undefined;
  const narrow = createNarrow();
  return (channel, text) => {
    const [position, kind = '', ...path] = namesIn(channel);
    const { type: ownType, [kind]: member } = Object(isBlock ? begun : lastDelta);
    const delta = { type: isBlock ? deltaTypes.get(kind) : ownType, [kind]: narrow(member, path, text) };
    const event = { type: isBlock ? 'content_block_delta' : type, index: Number(position), delta };
    return { type: event.type, data: JSON.stringify(event) };
  };
}
