import type { Cooperative } from '../../json/cooperative.ts';
import type { Json, Node } from '../../json/scan.ts';
import type { Asking, Format, Reasoning, Turn } from './asking.ts';
import {
  beginReading,
  createTurns,
  type Reading,
  rawOf,
  refuse,
  refuseUnknown,
  required,
  requireKind,
  takeMembers,
  takeString,
  typeOf,
} from './reading.ts';
import { responsesFields as fields } from './responses-fields.ts';
import { readInput } from './responses-items.ts';
import { createToolOffers } from './responses-tools.ts';

/** Reads a request of the responses dialect. `open` opens the caller's seals. */
export function* readResponses(json: Json, open: Reading['open']): Cooperative<Asking> {
  const reading = beginReading(json, open);
  const taken = takeMembers(reading, json.root, fields.request);
  const isRaw = (value: Node | undefined, raw: string) => value !== undefined && json.raw(value) === raw;
  if (isRaw(taken.background, 'true')) {
    refuse(reading, taken.background ?? json.root, 'is not supported: nothing is stored. Leave it out.');
  }
  const [turns, offers] = [createTurns(reading), createToolOffers(reading)];
  if (taken.instructions !== undefined) turns.system([takeString(reading, taken.instructions)]);
  if (taken.tools !== undefined) yield* offers.read(taken.tools);
  if (taken.input !== undefined) yield* readInput({ reading, turns, offers }, taken.input);
  const { replaysAll, ...reasoning } = readReasoning(reading, taken.reasoning);
  const text = taken.text === undefined ? {} : takeMembers(reading, taken.text, fields.text);
  // The middle is what a model does without being asked.
  if (text.verbosity !== undefined && !isRaw(text.verbosity, '"medium"')) reading.leftOut.push(text.verbosity);
  const asksFor = (what: string) => includes(reading, taken.include, what);
  const asksForLogprobs = asksFor('"message.output_text.logprobs"');
  return {
    json,
    stream: isRaw(taken.stream, 'true'),
    turns: replaysAll ? turns.finish() : withoutOldThoughts(turns.finish()),
    offers: offers.finish(),
    choice: taken.tool_choice === undefined ? undefined : yield* offers.readChoice(taken.tool_choice),
    oneCall: isRaw(taken.parallel_tool_calls, 'false'),
    limit: rawOf(reading, taken.max_output_tokens),
    sampling: {
      temperature: rawOf(reading, taken.temperature),
      top_p: rawOf(reading, taken.top_p),
      presence_penalty: rawOf(reading, taken.presence_penalty),
      frequency_penalty: rawOf(reading, taken.frequency_penalty),
      logprobs: asksForLogprobs || taken.top_logprobs !== undefined ? 'true' : undefined,
      top_logprobs: rawOf(reading, taken.top_logprobs),
    },
    reasoning,
    format: text.format === undefined ? undefined : readFormat(reading, text.format),
    thoughts: { shown: true, sealed: asksFor('"reasoning.encrypted_content"') },
    leftOut: reading.leftOut,
    unread: reading.unread,
  };
}

function includes(reading: Reading, list: Node | undefined, raw: string): boolean {
  if (list === undefined) return false;
  requireKind(reading, list, 'array');
  return [...reading.json.elements(list)].some((element) => reading.json.raw(element) === raw);
}

function readReasoning(reading: Reading, at: Node | undefined): Reasoning & { readonly replaysAll: boolean } {
  if (at === undefined) return { replaysAll: true };
  const { json } = reading;
  const { effort, context } = takeMembers(reading, at, fields.reasoning);
  const replaysAll = context === undefined || json.raw(context) !== '"current_turn"';
  if (effort === undefined) return { replaysAll };
  requireKind(reading, effort, 'string');
  const name = json.string(effort);
  return { replaysAll, wish: name === 'none' ? 'off' : 'on', level: { at: effort, name, exact: true } };
}

/** Without the thoughts from before the last message of the user. */
function withoutOldThoughts(turns: readonly Turn[]): readonly Turn[] {
  const last = turns.findLastIndex(({ role }) => role === 'user');
  return turns.map((turn, index) => (turn.role === 'assistant' && index < last ? { ...turn, thoughts: [] } : turn));
}

function readFormat(reading: Reading, at: Node): Format | undefined {
  const type = typeOf(reading, at);
  const taken = takeMembers(reading, at, fields['text.format']);
  if (type === 'text') return undefined;
  if (type === 'json_object') return { kind: 'json' };
  if (type !== 'json_schema') refuseUnknown(reading, at);
  return {
    kind: 'schema',
    name: takeString(reading, required(reading, at, 'name', taken.name)),
    description: rawOf(reading, taken.description),
    schema: reading.json.raw(required(reading, at, 'schema', taken.schema)),
    strict: rawOf(reading, taken.strict),
  };
}
