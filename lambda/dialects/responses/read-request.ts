import type { Json, Node } from '../../json/scan.ts';
import type { Effort, Format, ModelRequest } from '../model/request/model-request.ts';
import { refuseUnknown, requireKind, typeOf } from '../model/request/refuse-item.ts';
import { createRequestReader, type RequestReader, toText } from '../model/request/request-reader.ts';
import { takeMembers } from '../model/request/take-members.ts';
import { createTurnBuilder } from '../model/request/turn-builder.ts';
import { readInput } from './read-items.ts';
import { createToolOffers } from './read-tools.ts';
import { responsesFields as fields } from './request-fields.ts';

/** Reads a client's responses request. `open` opens the caller's seals. */
export function readResponses(json: Json, open: RequestReader['open']): ModelRequest {
  const reader = createRequestReader(json, open);
  const request = takeMembers(reader, json.root, fields.request);
  const { instructions, tools, input, tool_choice: choice, text, include, top_logprobs } = request;
  const { temperature, top_p, presence_penalty, frequency_penalty } = request;
  const [turns, offers] = [createTurnBuilder(reader), createToolOffers(reader)];
  if (instructions !== undefined) turns.system([toText(instructions)]);
  if (tools !== undefined) offers.read(tools);
  if (input !== undefined) readInput({ reader, turns, offers }, input);
  const { effort, context } = request.reasoning ?? {};
  // `medium` is the default, so nothing is lost.
  if (text?.verbosity !== undefined && json.raw(text.verbosity) !== '"medium"') reader.leftOut.push(text.verbosity);
  const included = readIncluded(reader, include);
  const logprobs = included.has('"message.output_text.logprobs"') || top_logprobs !== undefined ? 'true' : undefined;
  return {
    json,
    stream: request.stream === true,
    turns: turns.finish((userMessages) => context !== '"current_turn"' || userMessages === 0),
    tools: offers.finish(),
    choice: choice === undefined ? undefined : offers.readChoice(choice),
    oneCall: request.parallel_tool_calls === 'false',
    limit: request.max_output_tokens,
    sampling: { temperature, top_p, presence_penalty, frequency_penalty, logprobs, top_logprobs },
    effort: effort === undefined ? {} : readEffort(json, effort),
    format: text?.format === undefined ? undefined : readFormat(reader, text.format),
    reasoning: { shown: true, sealed: included.has('"reasoning.encrypted_content"') },
    leftOut: reader.leftOut,
    unknown: reader.unknown,
  };
}

function readIncluded(reader: RequestReader, list: Node | undefined): ReadonlySet<string> {
  const included = new Set<string>();
  if (list === undefined) return included;
  requireKind(reader, list, 'array');
  for (const element of reader.json.elements(list)) {
    included.add(reader.json.raw(element));
  }
  return included;
}

function readEffort(json: Json, at: Node): Effort {
  const name = json.string(at);
  return { wish: name === 'none' ? 'off' : 'on', level: { at, name, exact: true } };
}

function readFormat(reader: RequestReader, at: Node): Format | undefined {
  const type = typeOf(reader, at);
  if (type === 'json_schema') return takeMembers(reader, at, fields['text.format of a schema']);
  takeMembers(reader, at, fields['text.format']);
  if (type === 'json_object') return 'json';
  return type === 'text' ? undefined : refuseUnknown(reader, at);
}
