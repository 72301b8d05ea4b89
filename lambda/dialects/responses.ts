import type { Json, Node } from '../json/scan.ts';
import {
  eachMember,
  elements,
  holdsSealed,
  numberMember,
  presentMember,
  readErrorMessage,
  recordProviderFields,
  recordUsage,
  sealed,
  stringMember,
  type UsagePlaces,
  unreadIn,
} from './answer.ts';
import { readExpectedAnswer } from './body.ts';
import type { Dialect, MakeDelta, OutgoingEvent, StreamDialect } from './dialect.ts';
import type { Recorder } from './findings.ts';
import { openAiErrorFields, renderOpenAiError } from './openai-error.ts';
import { createNarrow, eachText, namesIn, toStep } from './places.ts';
import { checkBody, findConversationStart, findFiles, findVision, hasReferences } from './responses-body.ts';

/** Families of texts that a program reads: `response.function_call_arguments`, `response.audio`; not `response.output_text`. */
const programText = /(arguments|input|code|diff|command|audio)$/;
const programMembers = new Set(['arguments', 'input', 'code', 'diff', 'command', 'operation']);
/** `function_call`, `mcp_call`, `web_search_call`; not `function_call_output`. */
const callType = /_call$|^mcp_approval_request$/;
/** Calls whose `action` a program carries out. */
const actionType = /^(computer|local_shell|shell)_call$/;

/** OpenAI responses. */
export const responses: Dialect = {
  name: 'responses',
  endpoints: [{ path: '/v1/responses', webSocketBeta: /\bresponses_websockets/ }],
  authorize: (key) => ({ authorization: `Bearer ${key}` }),
  controlMembers: new Set(['model', 'stream', 'input', 'prompt', 'previous_response_id', 'conversation', 'background']),
  checkBody,
  findVision,
  outputLimits: ['max_output_tokens'],
  findFiles,
  hasReferences,
  findConversationStart,
  isAccountBound: (body) => holdsSealed(body, body.member(body.root, 'input')),
  readExpectedAnswer: (body) => readExpectedAnswer(body, {}),
  normalize: () => ({}),
  readAnswer,
  openStream,
  renderError: renderOpenAiError,
  renderErrorEvent: (error, sequence) => {
    const { message, type, code } = openAiErrorFields(error);
    const data = {
      type: 'error',
      sequence_number: sequence,
      code,
      message,
      param: null,
      error: { message, type, code },
    };
    return { type: 'error', data: JSON.stringify(data) };
  },
  keepAlive: ': keep-alive\n\n',
};

function openStream(): StreamDialect {
  return { doneEnds: false, readEvent, unread: (event) => unreadIn(event, event.root, readMembers), deltasLike };
}

/** What is read of an event that adds to a text. */
const readMembers = new Set([
  ...['type', 'sequence_number', 'output_index', 'content_index', 'summary_index', 'delta', 'logprobs', 'model'],
  ...['item', 'part', 'response', 'error', 'name', 'arguments', 'text', 'refusal', 'transcript'],
]);

/** In characters. Longer types and indexes are ignored, or many texts could have long names. */
const longestType = 100;
const longestPlace = 20;

function readEvent(event: Json, eventType: string | undefined, record: Recorder): void {
  const root = event.root;
  const named = stringMember(event, root, 'type') ?? eventType ?? '';
  const type = named.length > longestType ? '' : named;
  const sequence = event.member(root, 'sequence_number');
  if (sequence !== undefined && numberMember(event, root, 'sequence_number') !== undefined) record.sequence(sequence);
  recordProviderFields(event, root, record);
  if (type.endsWith('.delta')) recordDelta(event, type.slice(0, -'.delta'.length), record);
  else if (type === 'error' || (type === '' && presentMember(event, root, 'error') !== undefined)) {
    record.fail(readErrorMessage(event) ?? '');
  } else readRareEvent(event, type, record);
}

function readRareEvent(event: Json, type: string, record: Recorder): void {
  const response = presentMember(event, event.root, 'response');
  if (response !== undefined) recordResponse(event, response, record);
  if (type === 'ping' || type === 'keepalive') record.alive();
  else if (type === 'response.failed') {
    const error = presentMember(event, response, 'error');
    if (error !== undefined) recordErrorMessages(event, error, record);
    record.endTexts('');
    record.fail(stringMember(event, error, 'message') ?? '', true);
  } else if (type === 'response.completed' || type === 'response.incomplete') {
    record.endTexts('');
    record.end();
  } else recordPart(event, type, record);
}

/** Records every text of an error, because routers describe failures in other members than `message` too. */
function recordErrorMessages(event: Json, error: Node, record: Recorder): void {
  for (let node = error, end = event.next(error); node < end; node += 1) {
    if (event.isKey(node) && /^(code|type|param)$/.test(event.string(node))) node += 1;
    else if (!event.isKey(node) && event.kind(node) === 'string') record.errorMessage(node);
  }
}

/** Where a text is: `output/part/`, each empty if the event has no such index. */
function placeOf(event: Json): { item: string; part: string } {
  const index = (name: string): string => {
    const value = event.member(event.root, name);
    const place = value === undefined ? '' : event.raw(value);
    return place.length > longestPlace ? '' : place && toStep(place);
  };
  const item = `${index('output_index')}/`;
  return { item, part: `${item}${index('content_index') || index('summary_index')}/` };
}

function recordDelta(event: Json, family: string, record: Recorder): void {
  const delta = event.member(event.root, 'delta');
  if (delta === undefined) return;
  const channel = placeOf(event).part + toStep(family);
  if (programText.test(family)) record.keep(delta);
  else if (event.kind(delta) === 'string') {
    const logprobs = tokensOf(event);
    record.textDelta(channel, family, delta, logprobs);
    if (logprobs !== undefined) record.logprobs(`${channel}/logprobs`, logprobs, false);
  } else {
    // Such as the output of a hosted shell: {stdout, stderr}.
    eachText(event, { name: '', value: delta }, record, (place, value) => {
      record.textDelta(channel + place, `${family}/${place.split('/')[1]}`, value);
    });
  }
}

/** The tokens of an event's text; undefined for an empty list, which some upstreams send with each text. */
function tokensOf(event: Json): Node | undefined {
  const logprobs = presentMember(event, event.root, 'logprobs');
  return logprobs !== undefined && event.raw(logprobs) === '[]' ? undefined : logprobs;
}

/** Records the events about one output item, content part or whole text. */
function recordPart(event: Json, type: string, record: Recorder): void {
  const root = event.root;
  const { item: itemPlace, part: partPlace } = placeOf(event);
  const item = presentMember(event, root, 'item');
  const part = presentMember(event, root, 'part');
  if (item !== undefined) recordItem(event, item, itemPlace, record);
  if (type.endsWith('.added')) {
    // Deltas will add to the text that a part begins with.
    if (part !== undefined) recordText(event, part, partPlace, record, 'textDelta');
    return;
  }
  if (part !== undefined) recordText(event, part, partPlace, record, 'wholeText');
  if (!type.endsWith('.done')) return;
  const family = type.slice(0, -'.done'.length);
  const channel = partPlace + toStep(family);
  const ending = item !== undefined ? [itemPlace] : part !== undefined ? [partPlace] : [channel, `${channel}/`];
  for (const prefix of ending) record.endTexts(prefix);
  const isCall = presentMember(event, root, 'arguments') !== undefined;
  const logprobs = presentMember(event, root, 'logprobs');
  eachMember(event, root, (name, value) => {
    if ((family.includes('_call') && programMembers.has(name)) || (isCall && name === 'name')) record.keep(value);
    else if (textMember.test(name) && event.kind(value) === 'string') {
      record.wholeText(channel, family, value, logprobs);
    }
  });
  if (logprobs !== undefined) record.logprobs(`${channel}/logprobs`, logprobs, true);
}

function readAnswer(answer: Json, record: Recorder): void {
  const { root } = answer;
  if (presentMember(answer, root, 'error') !== undefined || stringMember(answer, root, 'status') === 'failed') {
    record.fail(readErrorMessage(answer) ?? '');
  }
  recordResponse(answer, root, record);
}

const usagePlaces: UsagePlaces = {
  input: [['input_tokens']],
  cacheRead: [['input_tokens_details', 'cached_tokens']],
  cacheWrite: [['input_tokens_details', 'cache_write_tokens']],
  output: [['output_tokens']],
  reasoning: [['output_tokens_details', 'reasoning_tokens']],
};

function recordResponse(json: Json, response: Node, record: Recorder): void {
  recordProviderFields(json, response, record);
  recordUsage(json, response, usagePlaces, record);
  for (const [index, item] of elements(json, json.member(response, 'output')).entries()) {
    recordItem(json, item, `${index}/`, record);
  }
  // The caller's own tools, as the upstream repeats them.
  const tools = elements(json, json.member(response, 'tools'));
  const choice = presentMember(json, response, 'tool_choice');
  for (const tool of choice === undefined ? tools : [...tools, choice]) {
    const name = json.member(tool, 'name');
    if (name !== undefined) record.keep(name);
  }
}

/** Records one output item: its texts, and what a program reads back. */
function recordItem(json: Json, item: Node, place: string, record: Recorder): void {
  const type = stringMember(json, item, 'type') ?? '';
  const isCall = callType.test(type);
  const isProgram = isCall || type.endsWith('_call_output');
  recordProviderFields(json, item, record);
  eachMember(json, item, (name, value) => {
    if ((isProgram && programMembers.has(name)) || sealed.test(name) || (isCall && name === 'name')) record.keep(value);
    else if (actionType.test(type) && /^actions?$/.test(name)) record.keep(value);
    else if (type === 'image_generation_call' && name === 'result') record.keep(value);
    else if (name === 'content' || name === 'summary') {
      for (const [index, part] of elements(json, value).entries())
        recordText(json, part, `${place}${index}/`, record, 'wholeText');
    }
  });
}

const textMember = /^(text|refusal|transcript)$/;

/** Content parts whose deltas have another name than the part. */
const families: Readonly<Record<string, string>> = { summary_text: 'reasoning_summary_text' };

function recordText(json: Json, part: Node, place: string, record: Recorder, how: 'textDelta' | 'wholeText'): void {
  const type = stringMember(json, part, 'type') ?? '';
  const family = `response.${families[type] ?? type.slice(0, longestType)}`;
  const channel = place + toStep(family);
  const logprobs = presentMember(json, part, 'logprobs');
  eachMember(json, part, (name, value) => {
    if (textMember.test(name) && json.kind(value) === 'string') record[how](channel, family, value, logprobs);
  });
  if (logprobs !== undefined) record.logprobs(`${channel}/logprobs`, logprobs, how === 'wholeText');
}

function deltasLike(last: OutgoingEvent): MakeDelta {
  const { part, logprobs, obfuscation, ...place } = JSON.parse(last.data);
  const narrow = createNarrow();
  return (channel, text, sequence) => {
    const [, , family, ...path] = namesIn(channel);
    const data = {
      ...place,
      type: `${family}.delta`,
      delta: narrow(place.delta, path, text),
      ...(logprobs !== undefined && { logprobs: [] }),
      ...(place.sequence_number !== undefined && { sequence_number: sequence }),
    };
    return { type: last.type && data.type, data: JSON.stringify(data) };
  };
}
