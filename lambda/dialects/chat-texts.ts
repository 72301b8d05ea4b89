import type { Json, Node } from '../json/scan.ts';
import type { Marks, OutgoingEvent, TellText } from './dialect.ts';
import {
  eachMember,
  elements,
  markEnvelope,
  mayBeText,
  numberMember,
  passSealed,
  presentMember,
  sealed,
  sealedType,
  stringMember,
} from './envelope.ts';

/** Strings that are text at any depth. Providers give reasoning many names. */
const textual = /^(content|refusal|transcript|(text|summary|thoughts?|thinking|reasoning)(_content|_text)?)$/;

/** Members whose parts carry pieces of text. The contents of others, such as annotations and images, arrive whole. */
const holders = /^(content|audio|(reasoning|thinking)(_\w{1,100})?)$/;

/** How deep in a message a text may be: content[0].thinking[0].text. */
const deepestText = 5;

/** In characters. Text at a place with a longer name counts as whole, or many texts could have long names. */
const longestPart = 200;

const thoughtful = /reasoning|thinking|thought|summary/;

/** Receives a text in a member of a choice (`delta/content`), with its place if that has parts (`/0/thinking/1/text`). */
type Speak = (member: string, part: string, value: Node) => void;

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

/** Names the channels `index/kind/member/part`; the parts of a member are a family. */
function speakWith(mark: Marks['whole'], index: number, logprobs: Node | undefined): Speak {
  return (member, part, value) => {
    const kind = thoughtful.test(member) || thoughtful.test(part) ? 'thought' : 'said';
    const family = `${index}/${kind}/${member}`;
    mark(family + (part || '/'), family, value, logprobs);
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
    const isString = json.kind(value) === 'string';
    if (isString && textual.test(name)) speak(`${holder}/${name}`, '', value);
    else if (name === 'tool_calls') {
      passSealed(json, value, marks);
      for (const call of elements(json, value)) {
        passCall(json, json.member(call, 'function'), marks);
        passCall(json, json.member(call, 'custom'), marks);
        calls = true;
      }
    } else if (name === 'function_call') {
      passCall(json, value, marks);
      calls ||= json.kind(value) === 'object';
    } else if (sealed.test(name)) marks.pass(value);
    else if (isString) {
      if (mayBeText(json, name, value)) speak(`${holder}/${name}`, '', value);
    } else if (holders.test(name)) {
      const sound = name === 'audio' ? json.member(value, 'data') : undefined;
      if (sound !== undefined) marks.pass(sound);
      markParts(json, value, marks, (part, text) => speak(`${holder}/${name}`, part, text));
    } else passSealed(json, value, marks);
  });
  return calls;
}

/** Marks the texts in the parts of a member, however they are nested, and what only the upstream can read. */
function markParts(json: Json, member: Node, marks: Marks, speak: (part: string, text: Node) => void): void {
  const mark = (name: string, value: Node, part: string, depth: number): void => {
    const kind = json.kind(value);
    if (sealed.test(name)) marks.pass(value);
    else if (kind === 'string') {
      if (textual.test(name)) speak(part, value);
    } else if (depth === 0 || part.length > longestPart) return;
    else if (kind === 'object') {
      const isSealed = sealedType.test(stringMember(json, value, 'type') ?? '');
      eachMember(json, value, (inner, node) => {
        if (isSealed && inner === 'data') marks.pass(node);
        else mark(inner, node, `${part}/${inner}`, depth - 1);
      });
    } else {
      for (const [position, element] of elements(json, value).entries()) {
        const index = numberMember(json, element, 'index') ?? position;
        mark('', element, `${part}/${index}`, depth - 1);
      }
    }
  };
  mark('', member, '', deepestText);
}

function passCall(json: Json, call: Node | undefined, marks: Marks): void {
  eachMember(json, call, (name, value) => {
    if (name === 'name' || name === 'arguments' || name === 'input') marks.pass(value);
  });
}

/** Makes chunks that contain only a text, at the place of its channel. */
export function tellAfter({ type, data }: OutgoingEvent): TellText {
  const { id, object, created, model, choices } = JSON.parse(data);
  const spoken = byIndex(choices, () => 0);
  const parts = new Map<readonly unknown[], ReadonlyMap<string, unknown>>();

  /** A copy of a choice, or of a part of it, with only `text` at the end of the path and the labels on the way. */
  const narrow = (value: unknown, [step, ...rest]: readonly string[], text: string): unknown => {
    if (!step) return text;
    if (Array.isArray(value)) {
      const elements = parts.get(value) ?? byIndex(value, (at) => at);
      parts.set(value, elements);
      return [narrow(elements.get(step), rest, text)];
    }
    const own = (name: string): [string, unknown][] =>
      Object.hasOwn(Object(value), name) ? [[name, Object(value)[name]]] : [];
    const [member] = own(step);
    return { ...Object.fromEntries(labels.flatMap(own)), [step]: narrow(member?.[1], rest, text) };
  };

  return (channel, text) => {
    const [position = '', , ...path] = channel.split('/');
    const narrowed = Object(narrow(spoken.get(position), path, text));
    const choice = { index: Number(position), ...narrowed, finish_reason: null };
    return { type, data: JSON.stringify({ id, object, created, model, choices: [choice] }) };
  };
}

const labels = ['type', 'id', 'format', 'index'];

/** The elements of an array by their `index`; the first of several. */
function byIndex(array: readonly unknown[], absent: (at: number) => number): ReadonlyMap<string, unknown> {
  const entries = array.map((element, at): [string, unknown] => [String(Object(element).index ?? absent(at)), element]);
  return new Map(entries.reverse());
}
