import type { Json, Node } from '../json/scan.ts';
import { eachMember, elements, isEnvelope, markEnvelope, presentMember } from './answer.ts';
import type { Marks, OutgoingEvent, TellText } from './dialect.ts';
import { byIndex, createNarrow, eachText, namesIn, toStep } from './places.ts';

const thoughtful = /reasoning|thinking|thought|summary/;

/** What a program reads in these members of a message: the names and arguments of calls. */
const programs: Readonly<Record<string, RegExp | undefined>> = {
  tool_calls: /^\/[^/]+\/(function|custom)\/(name|arguments|input)$/,
  function_call: /^\/(name|arguments|input)$/,
  audio: /^\/data$/,
};

/** Receives a text in a member of a choice (`delta/content`), with its place if that has parts (`/0/thinking/1/text`). */
type Speak = (member: string, place: string, value: Node) => void;

/** Marks the texts of a whole choice. */
export function markWholeChoice(json: Json, choice: Node, index: number, marks: Marks): void {
  const logprobs = presentMember(json, choice, 'logprobs');
  const speak = speakWith(marks.whole, index, logprobs);
  markMessage(json, choice, 'message', marks, speak);
  markText(json, choice, speak);
  if (logprobs !== undefined) marks.tokens(`${index}/logprobs`, logprobs, true);
}

/** Marks the texts of a choice in one event of a stream, and the channels that end with it. */
export function markPieces(json: Json, choice: Node, index: number, marks: Marks): void {
  const logprobs = presentMember(json, choice, 'logprobs');
  let speaks = false;
  const tell = speakWith(
    (channel, family, value) => {
      marks.delta(channel, family, value, logprobs);
      if (json.end(value) - json.start(value) === 2) return;
      // One part of a member ends where the next begins.
      marks.turn(`${family}/`);
      speaks = true;
    },
    index,
    logprobs,
  );
  const calls = markMessage(json, choice, 'delta', marks, tell);
  // Beside a delta with text, `message` repeats everything said so far; otherwise it comes in pieces itself.
  const message = speaks ? speakWith(marks.whole, index, logprobs) : tell;
  const callsInMessage = markMessage(json, choice, 'message', marks, message);
  markText(json, choice, tell);
  // Also without text beside them: they may belong to a tool call, or to a text that comes later.
  if (logprobs !== undefined) marks.tokens(`${index}/logprobs`, logprobs, false);
  // Clients close a block of thoughts as soon as something else is said, and every block when a tool is called. Thoughts that
  // interrupt the content do not end it.
  if (calls || callsInMessage) marks.close(`${index}/`);
  else if (speaks) marks.turn(`${index}/thought/`);
}

/** Names the channels `index/kind/member/place`; the parts of a member are a family. */
function speakWith(mark: Marks['whole'], index: number, logprobs: Node | undefined): Speak {
  return (member, place, value) => {
    const kind = thoughtful.test(member) || thoughtful.test(place) ? 'thought' : 'said';
    const family = `${index}/${kind}/${member}`;
    mark(family + (place || '/'), family, value, logprobs);
  };
}

/** The text of a legacy completion, which some servers also send in a chat's answers. */
function markText(json: Json, choice: Node, speak: Speak): void {
  const text = json.member(choice, 'text');
  if (text !== undefined && json.kind(text) === 'string') speak('text', '', text);
}

/** Marks the members of a message or a delta. Returns whether it calls a tool. */
function markMessage(json: Json, choice: Node, holder: 'delta' | 'message', marks: Marks, speak: Speak): boolean {
  const message = json.member(choice, holder);
  if (message === undefined) return false;
  let calls = false;
  markEnvelope(json, message, marks);
  eachMember(json, message, (name, value) => {
    if (isEnvelope(name)) return;
    calls ||= name === 'tool_calls' && elements(json, value).length > 0;
    calls ||= name === 'function_call' && json.kind(value) === 'object';
    eachText(json, { name, value, program: programs[name] }, marks, (place, text) =>
      speak(`${holder}/${toStep(name)}`, place, text),
    );
  });
  return calls;
}

/** Makes chunks that contain only a text, at the place of its channel. */
export function tellAfter({ type, data }: OutgoingEvent): TellText {
  const { id, object, created, model, choices } = JSON.parse(data);
  const spoken = byIndex(choices, () => 0);
  const narrow = createNarrow();
  return (channel, text) => {
    const isMember = channel.endsWith('/'); // without parts
    const [position = '', , ...path] = namesIn(isMember ? channel.slice(0, -1) : channel);
    const { index, ...narrowed } = Object(narrow(spoken.get(position), path, text));
    const choice = { index: Number(position), ...narrowed, finish_reason: null };
    return { type, data: JSON.stringify({ id, object, created, model, choices: [choice] }) };
  };
}
