import { type Cooperative, nodesPerTurn } from '../../json/cooperative.ts';
import type { Json, Node } from '../../json/scan.ts';
import type { Asking, Format, Reasoning } from './asking.ts';
import { takeMembers } from './members.ts';
import { beginReading, type Reading } from './reading.ts';
import { refuseUnknown, requireKind, typeOf } from './refusals.ts';
import { responsesFields as fields } from './responses-fields.ts';
import { readInput } from './responses-items.ts';
import { createToolOffers } from './responses-tools.ts';
import { createTurns } from './turns.ts';

/** Reads a request of the responses dialect. `open` opens the caller's seals. */
export function* readResponses(json: Json, open: Reading['open']): Cooperative<Asking> {
  const reading = beginReading(json, open);
  const asked = takeMembers(reading, json.root, fields.request);
  const { instructions, tools, input, tool_choice: choice, text, include, top_logprobs } = asked;
  const { temperature, top_p, presence_penalty, frequency_penalty } = asked;
  const [turns, offers] = [createTurns(reading), createToolOffers(reading)];
  if (instructions !== undefined) turns.system([instructions]);
  if (tools !== undefined) yield* offers.read(tools);
  if (input !== undefined) yield* readInput({ reading, turns, offers }, input);
  const { effort, context } = asked.reasoning ?? {};
  // The middle is what a model does without being asked.
  if (text?.verbosity !== undefined && json.raw(text.verbosity) !== '"medium"') reading.leftOut.push(text.verbosity);
  const included = yield* readIncluded(reading, include);
  const logprobs = included.has('"message.output_text.logprobs"') || top_logprobs !== undefined ? 'true' : undefined;
  return {
    json,
    stream: asked.stream === true,
    turns: turns.finish((spoken) => context !== '"current_turn"' || spoken === 0),
    offers: offers.finish(),
    choice: choice === undefined ? undefined : yield* offers.readChoice(choice),
    oneCall: asked.parallel_tool_calls === 'false',
    limit: asked.max_output_tokens,
    sampling: { temperature, top_p, presence_penalty, frequency_penalty, logprobs, top_logprobs },
    reasoning: effort === undefined ? {} : readEffort(json, effort),
    format: text?.format === undefined ? undefined : readFormat(reading, text.format),
    thoughts: { shown: true, sealed: included.has('"reasoning.encrypted_content"') },
    leftOut: reading.leftOut,
    unread: reading.unread,
  };
}

function* readIncluded(reading: Reading, list: Node | undefined): Cooperative<ReadonlySet<string>> {
  const included = new Set<string>();
  if (list === undefined) return included;
  requireKind(reading, list, 'array');
  let read = 0;
  for (const element of reading.json.elements(list)) {
    if (++read % nodesPerTurn === 0) yield;
    included.add(reading.json.raw(element));
  }
  return included;
}

function readEffort(json: Json, at: Node): Reasoning {
  const name = json.string(at);
  return { wish: name === 'none' ? 'off' : 'on', level: { at, name, exact: true } };
}

function readFormat(reading: Reading, at: Node): Format | undefined {
  const type = typeOf(reading, at);
  if (type === 'json_schema') return takeMembers(reading, at, fields['text.format of a schema']);
  takeMembers(reading, at, fields['text.format']);
  if (type === 'json_object') return 'json';
  return type === 'text' ? undefined : refuseUnknown(reading, at);
}
