import type { Json, Node } from '../json/scan.ts';
import { readAsked } from './asked.ts';
import { requireArray } from './check.ts';
import type { Asked, Dialect, Marks, OutgoingEvent, StreamDialect } from './dialect.ts';
import {
  eachMember,
  elements,
  holdsSealed,
  markEnvelope,
  numberMember,
  passSealed,
  presentMember,
  sealed,
  stringMember,
} from './envelope.ts';
import { readErrorMessage } from './error-message.ts';
import { openAiErrorFields, renderOpenAiError } from './openai-error.ts';
import { openingOf } from './opening.ts';
import { findVisionContent } from './vision.ts';

const content = {
  types: ['image_url', 'video_url', 'input_image', 'input_video', 'image', 'video'],
  members: ['image_url', 'video_url'],
  files: ['file_data'],
  // Some routers answer with `images`, which clients send back.
  within: ['content', 'images', 'file'],
};
const visionRules = new Map([
  ['messages', content],
  ['prediction', content],
]);

/** OpenAI chat completions. */
export const chat: Dialect = {
  name: 'chat',
  endpoints: [
    {
      path: '/v1/chat/completions',
      upstreamPath: '/chat/completions',
      address: 'chat',
      charged: true,
      optional: false,
      streams: true,
    },
  ],
  authorize: (key) => ({ authorization: `Bearer ${key}` }),
  controlMembers: new Set(['model', 'stream', 'messages', 'prediction', 'n']),
  checkBody: (body) => requireArray(body, 'messages'),
  findVision: (body) => findVisionContent(body, visionRules),
  hasReferences: () => false,
  findOpening: (body) => openingOf(body, body.member(body.root, 'messages')),
  isAccountBound: (body) => holdsSealed(body, body.member(body.root, 'messages')),
  readAsked: (body) => readAsked(body, { choices: 'n' }),
  normalize: () => ({}),
  readAnswer,
  openStream,
  renderError: renderOpenAiError,
  renderErrorEvent: (error) => ({ data: JSON.stringify({ error: openAiErrorFields(error) }) }),
  keepAlive: ': keep-alive\n\n',
};

function readAnswer(answer: Json, marks: Marks): void {
  if (presentMember(answer, answer.root, 'error') !== undefined) marks.fail(readErrorMessage(answer) ?? '');
  markEnvelope(answer, answer.root, marks);
  markUsage(answer, marks);
  for (const choice of elements(answer, answer.member(answer.root, 'choices'))) {
    markEnvelope(answer, choice, marks);
    markChoiceError(answer, choice, marks);
    const index = numberMember(answer, choice, 'index') ?? 0;
    const logprobs = presentMember(answer, choice, 'logprobs');
    markMessage(answer, answer.member(choice, 'message'), marks, (path, value) => {
      const channel = `${index}/${path}`;
      marks.whole(channel, channel, value, logprobs);
    });
  }
}

function openStream({ choices }: Asked): StreamDialect {
  const open = new Set<number>();
  const finished = new Set<number>();

  const readChoice = (event: Json, choice: Node, marks: Marks): void => {
    markEnvelope(event, choice, marks);
    markChoiceError(event, choice, marks);
    const index = numberMember(event, choice, 'index') ?? 0;
    const logprobs = presentMember(event, choice, 'logprobs');
    let speaks = false;
    const calls = markMessage(event, event.member(choice, 'delta'), marks, (path, value) => {
      const channel = `${index}/${path}`;
      marks.delta(channel, channel, value, logprobs);
      speaks ||= event.end(value) - event.start(value) > 2;
    });
    // One kind of text ends where another, or a tool call, begins: a client has closed its block by then.
    if (calls) marks.close(`${index}/`);
    else if (speaks) marks.turn(`${index}/`);
    if (isFinished(event, choice)) {
      marks.close(`${index}/`);
      finished.add(index);
      open.delete(index);
    } else if (!finished.has(index)) {
      open.add(index);
    }
  };

  return {
    doneEnds: true,
    readEvent: (event, type, marks) => {
      if (type === 'error' || presentMember(event, event.root, 'error') !== undefined) {
        marks.fail(readErrorMessage(event) ?? '');
        return;
      }
      if (type === 'ping') marks.alive();
      markEnvelope(event, event.root, marks);
      markUsage(event, marks);
      for (const choice of elements(event, event.member(event.root, 'choices'))) readChoice(event, choice, marks);
      if (finished.size > 0 && finished.size >= choices && open.size === 0) marks.mayEnd();
    },
    textEvent,
  };
}

/** Some servers print a reason that is none as an empty text, others as the word. */
function isFinished(json: Json, choice: Node): boolean {
  const reason = presentMember(json, choice, 'finish_reason');
  return reason !== undefined && !/^"(null)?"$/.test(json.raw(reason));
}

// Providers give reasoning many names. Other strings of a message are short words, such as its role: complete in themselves.
const textual = /^(content|refusal|transcript|(text|summary|thoughts?|thinking|reasoning)(_content|_text)?)$/;

/** Members whose parts carry pieces of text; what stands in others, annotations or images, is complete in itself. */
const holders = /^(content|audio|(reasoning|thinking)(_\w+)?)$/;

/** Text stands at most this deep in a message: content[0].thinking[0].text. */
const deepestText = 5;

type Speak = (path: string, value: Node) => void;

/** Marks the members of a message or a delta; tells whether it calls a tool. */
function markMessage(json: Json, message: Node | undefined, marks: Marks, speak: Speak): boolean {
  let calls = false;
  markEnvelope(json, message, marks);
  eachMember(json, message, (name, value) => {
    if (name === 'tool_calls') {
      passSealed(json, value, marks);
      for (const call of elements(json, value)) {
        passCall(json, json.member(call, 'function'), marks);
        passCall(json, json.member(call, 'custom'), marks);
        calls = true;
      }
    } else if (name === 'function_call') {
      passCall(json, value, marks);
      calls ||= json.kind(value) === 'object';
    } else if (json.kind(value) === 'string' || holders.test(name)) {
      markMember(json, name, value, name, marks, speak, deepestText);
    } else {
      passSealed(json, value, marks);
    }
  });
  return calls;
}

/** Marks the texts in one member of a message, however its parts are nested, and what of it only the upstream can read. */
function markMember(json: Json, name: string, value: Node, path: string, marks: Marks, speak: Speak, depth: number) {
  const kind = json.kind(value);
  if (sealed.test(name)) marks.pass(value);
  else if (kind === 'string') {
    if (textual.test(name)) speak(path, value);
  } else if (depth === 0) return;
  else if (kind === 'object') {
    const isSealed = path.startsWith('audio') || /encrypted|redacted/.test(stringMember(json, value, 'type') ?? '');
    eachMember(json, value, (inner, node) => {
      if (isSealed && inner === 'data') marks.pass(node);
      else markMember(json, inner, node, `${path}/${inner}`, marks, speak, depth - 1);
    });
  } else {
    for (const [position, part] of elements(json, value).entries()) {
      const index = numberMember(json, part, 'index') ?? position;
      markMember(json, '', part, `${path}/${index}`, marks, speak, depth - 1);
    }
  }
}

/** Some routers report that the one they asked has failed inside a choice. */
function markChoiceError(json: Json, choice: Node, marks: Marks): void {
  const error = presentMember(json, choice, 'error');
  if (error !== undefined) marks.fail(stringMember(json, error, 'message') ?? '');
}

function passCall(json: Json, call: Node | undefined, marks: Marks): void {
  eachMember(json, call, (name, value) => {
    if (name === 'name' || name === 'arguments' || name === 'input') marks.pass(value);
  });
}

function markUsage(json: Json, marks: Marks): void {
  const usage = presentMember(json, json.root, 'usage');
  if (usage === undefined) return;
  markEnvelope(json, usage, marks);
  marks.usage(numberMember(json, usage, 'prompt_tokens'), numberMember(json, usage, 'completion_tokens'));
}

function textEvent({ type, data }: OutgoingEvent, channel: string, text: string): OutgoingEvent {
  const { id, object, created, model, choices } = JSON.parse(data);
  const [position, ...path] = channel.split('/');
  const index = Number(position);
  const spoken = choices.find((choice: { index?: number }) => (choice.index ?? 0) === index);
  const delta = narrow(spoken?.delta, path, text);
  return {
    type,
    data: JSON.stringify({ id, object, created, model, choices: [{ index, delta, finish_reason: null }] }),
  };
}

const labels = ['type', 'id', 'format', 'index'];

/** A copy of a delta, or of a part of it, with nothing but `text` at the end of the path and what tells where it belongs. */
function narrow(value: unknown, path: readonly string[], text: string): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return text;
  if (Array.isArray(value)) {
    const element = value.find((one, at) => String(one?.index ?? at) === step);
    return [narrow(element, rest, text)];
  }
  const members = Object.entries(value ?? {});
  const inner = members.find(([name]) => name === step)?.[1];
  return {
    ...Object.fromEntries(members.filter(([name]) => labels.includes(name))),
    [step]: narrow(inner, rest, text),
  };
}
