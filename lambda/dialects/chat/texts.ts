import { eachMember, elements, presentMember } from '../../json/read.ts';
import type { Json, Node } from '../../json/scan.ts';
import type { MakeDelta, OutgoingEvent } from '../dialect.ts';
import { isProviderField, recordProviderFields } from '../model/envelope.ts';
import type { Findings } from '../model/findings.ts';
import { byIndex, createNarrow, eachText, namesIn, toStep } from '../model/places.ts';

/** `reasoning_content`, `thinking_blocks`, `/0/thinking/1/text`. */
const reasoningPlace = /reasoning|thinking|thought|summary/;

/** Where these members of a message hold tool calls or audio: `/0/function/arguments`. Some servers send a single call without a list. */
const allToolArguments: Readonly<Record<string, RegExp | undefined>> = {
  tool_calls: /^(\/[^/]+)?\/(function|custom)\/(name|arguments|input)$/,
  function_call: /^\/(name|arguments|input)$/,
  audio: /^\/data$/,
};

/** Receives a text in a member of a choice (`delta/content`), with its place if the member has parts. */
type AddText = (member: string, place: string, value: Node, isGenerated: boolean) => void;

/** Records the texts of a whole choice. */
export function recordWholeChoice(json: Json, choice: Node, index: number, found: Findings): void {
  const logprobs = presentMember(json, choice, 'logprobs');
  const addText = addTextWith(found.wholeText, index, logprobs);
  recordMessage(json, choice, 'message', found, { addText, isWhole: true });
  recordText(json, choice, addText);
  if (logprobs !== undefined) found.probabilities(`${index}/logprobs`, logprobs, true);
}

/** Records the texts of a choice in one event of a stream, and the channels that end with it. */
export function recordPieces(json: Json, choice: Node, index: number, found: Findings): void {
  const logprobs = presentMember(json, choice, 'logprobs');
  let hasText = false;
  const addDelta = addTextWith(
    (text) => {
      found.textDelta(text);
      if (json.end(text.value) - json.start(text.value) === 2) return;
      // A member or part ends where the next of its kind begins.
      found.flushOthers(`${text.family}/`);
      hasText = true;
    },
    index,
    logprobs,
  );
  const calls = recordMessage(json, choice, 'delta', found, { addText: addDelta, isWhole: false });
  // Beside a delta with text, `message` repeats the whole text so far. Otherwise, it is a delta itself.
  const message = {
    addText: hasText ? addTextWith(found.wholeText, index, logprobs) : addDelta,
    isWhole: hasText || calls,
  };
  const callsInMessage = recordMessage(json, choice, 'message', found, message);
  recordText(json, choice, addDelta);
  // Even without text: they may belong to a tool call, or to a text that comes later.
  if (logprobs !== undefined) found.probabilities(`${index}/logprobs`, logprobs, false);
  // Clients close a reasoning block when other text arrives, and every block when a tool is called. Reasoning that interrupts the
  // content does not end it.
  if (calls || callsInMessage) found.endTexts(`${index}/`);
  else if (hasText) found.flushOthers(`${index}/reasoning/`);
}

/** Names channels `index/kind/member/place`. All members of a kind are one family, as clients read them as one text. */
function addTextWith(add: Findings['wholeText'], index: number, logprobs: Node | undefined): AddText {
  return (member, place, value, isGenerated) => {
    const kind = reasoningPlace.test(member) || reasoningPlace.test(place) ? 'reasoning' : 'answer';
    const family = `${index}/${kind}`;
    add({ channel: `${family}/${member}${place || '/'}`, family, isGenerated, value, logprobs });
  };
}

/** The text of a legacy completion, which some servers also send in chat completions. */
function recordText(json: Json, choice: Node, addText: AddText): void {
  const text = json.member(choice, 'text');
  if (text !== undefined && json.kind(text) === 'string') addText('text', '', text, true);
}

/** Records the members of a message or a delta. Returns whether it calls a tool. */
function recordMessage(
  json: Json,
  choice: Node,
  holder: 'delta' | 'message',
  found: Findings,
  { addText, isWhole }: { addText: AddText; isWhole: boolean },
): boolean {
  const message = json.member(choice, holder);
  if (message === undefined) return false;
  let calls = false;
  recordProviderFields(json, message, found);
  eachMember(json, message, (name, value) => {
    if (isProviderField(name)) return;
    calls ||= name === 'tool_calls' && elements(json, value).length > 0;
    calls ||= (name === 'tool_calls' || name === 'function_call') && json.kind(value) === 'object';
    eachText(json, { name, value, toolArguments: allToolArguments[name], isWhole }, found, (place, text, isGenerated) =>
      addText(`${holder}/${toStep(name)}`, place, text, isGenerated),
    );
  });
  return calls;
}

/** Makes chunks that hold only a text, at the place of its channel. */
export function deltasLike({ type, data }: OutgoingEvent): MakeDelta {
  const { id, object, created, model, choices } = JSON.parse(data);
  const choicesByIndex = byIndex(choices, () => 0);
  const narrow = createNarrow();
  return (channel, text) => {
    const isMember = channel.endsWith('/'); // without parts
    const [position = '', , ...path] = namesIn(isMember ? channel.slice(0, -1) : channel);
    const { index, ...narrowed } = Object(narrow(choicesByIndex.get(position), path, text));
    const choice = { index: Number(position), ...narrowed, finish_reason: null };
    return { type, data: JSON.stringify({ id, object, created, model, choices: [choice] }) };
  };
}
