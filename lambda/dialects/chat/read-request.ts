import type { Json, Node } from '../../json/scan.ts';
import type { Format, ModelRequest, ToolChoice, ToolDefinition } from '../model/request/model-request.ts';
import { refuse, refuseUnknown, requireKind, typeOf } from '../model/request/refuse-item.ts';
import { countTool, createRequestReader, type RequestReader, readList } from '../model/request/request-reader.ts';
import { takeMembers } from '../model/request/take-members.ts';
import { createTurnBuilder } from '../model/request/turn-builder.ts';
import type { ClientTool } from '../model/tools.ts';
import { readMessageList } from './read-messages.ts';
import { chatFields as fields } from './request-fields.ts';

/** Reads a client's chat request. `open` opens the caller's seals. */
export function readChat(json: Json, open: RequestReader['open']): ModelRequest {
  const reader = createRequestReader(json, open);
  const request = takeMembers(reader, json.root, fields.request);
  const { temperature, top_p, top_k, presence_penalty, frequency_penalty, logprobs, top_logprobs, logit_bias } =
    request;
  requireOneTextChoice(reader, request.n, request.modalities);
  const turns = createTurnBuilder(reader);
  if (request.messages !== undefined) readMessageList(reader, turns, request.messages);
  const tools = request.tools === undefined ? [] : readList(reader, request.tools, (at) => readTool(reader, at));
  const functions =
    request.functions === undefined ? [] : readList(reader, request.functions, (at) => readFunction(reader, at, at));
  const { reasoning_effort: effort, tool_choice = request.function_call } = request;
  const level = effort === undefined ? undefined : { at: effort, name: json.string(effort), exact: true };
  return {
    json,
    stream: request.stream === true,
    streamUsage: request.stream_options?.include_usage === true,
    turns: turns.finish(() => true),
    tools: [...tools, ...functions],
    choice: tool_choice === undefined ? undefined : readChoice(reader, tool_choice),
    oneCall: request.parallel_tool_calls === 'false',
    limit: request.max_completion_tokens ?? request.max_tokens,
    sampling: {
      temperature,
      top_p,
      top_k,
      presence_penalty,
      frequency_penalty,
      logprobs,
      top_logprobs,
      logit_bias,
      stop: request.stop === undefined ? undefined : readStops(reader, request.stop),
    },
    effort: level === undefined ? {} : { wish: level.name === 'none' ? 'off' : 'on', level },
    format: request.response_format === undefined ? undefined : readFormat(reader, request.response_format),
    reasoning: { shown: true, sealed: true },
    leftOut: reader.leftOut,
    unknown: reader.unknown,
  };
}

function requireOneTextChoice(reader: RequestReader, choices: Node | undefined, modalities: Node | undefined): void {
  const { json } = reader;
  if (choices !== undefined && json.raw(choices) !== '1') {
    refuse(reader, choices, 'must be 1 with this model. Send a request for each answer.');
  }
  if (modalities !== undefined && !/^\[\s*("text"\s*)?\]$/.test(json.raw(modalities))) {
    refuse(reader, modalities, 'must be ["text"] with this model.');
  }
}

/** Stop sequences as a list, even if the client sent a string. Some servers refuse an empty list. */
function readStops(reader: RequestReader, stop: Node): string | undefined {
  const { json } = reader;
  requireKind(reader, stop, 'string', 'array');
  if (json.kind(stop) === 'string') return `[${json.raw(stop)}]`;
  return json.next(stop) === stop + 1 ? undefined : json.raw(stop);
}

function readTool(reader: RequestReader, at: Node): ToolDefinition {
  if (typeOf(reader, at) !== 'function') refuseUnknown(reader, at, 'Offer a function instead.');
  const { function: described, cache_control } = takeMembers(reader, at, fields.tool);
  return readFunction(reader, at, described, cache_control);
}

function readFunction(reader: RequestReader, at: Node, described: Node, isMarkedOutside = false): ToolDefinition {
  countTool(reader, at);
  const { name, cache_control: isMarked, ...rest } = takeMembers(reader, described, fields.function);
  return { at, tool: { kind: 'function', name }, isMarked: isMarked || isMarkedOutside, ...rest };
}

function readChoice(reader: RequestReader, at: Node): ToolChoice {
  const { json } = reader;
  requireKind(reader, at, 'string', 'object');
  if (json.kind(at) === 'string') return { at, mode: readMode(reader, at) };
  const type = typeOf(reader, at);
  if (type === 'function') {
    const { function: named } = takeMembers(reader, at, fields['tool_choice of a function']);
    return { at, mode: 'required', forced: { kind: 'function', name: named.name } };
  }
  if (type === '') {
    const { name } = takeMembers(reader, at, fields.function_call);
    return { at, mode: 'required', forced: { kind: 'function', name } };
  }
  if (type !== 'allowed_tools') return refuseUnknown(reader, at);
  const { mode, tools } = takeMembers(reader, at, fields['tool_choice of tools']).allowed_tools;
  const allowed = readList(reader, tools, (entry): { at: Node; tool: ClientTool } => {
    if (typeOf(reader, entry) !== 'function') refuseUnknown(reader, entry);
    const { function: named } = takeMembers(reader, entry, fields['tool_choice of a function']);
    return { at: entry, tool: { kind: 'function', name: named.name } };
  });
  return { at, mode: readMode(reader, mode), allowed };
}

function readMode(reader: RequestReader, at: Node): ToolChoice['mode'] {
  const mode = reader.json.string(at);
  if (mode === 'auto' || mode === 'none' || mode === 'required') return mode;
  return refuse(reader, at, 'must be auto, none or required.');
}

function readFormat(reader: RequestReader, at: Node): Format | undefined {
  const type = typeOf(reader, at);
  if (type === 'json_schema') return takeMembers(reader, at, fields['response_format of a schema']).json_schema;
  takeMembers(reader, at, fields.response_format);
  if (type === 'json_object') return 'json';
  return type === 'text' ? undefined : refuseUnknown(reader, at);
}
