import type { Cooperative } from '../../json/cooperative.ts';
import type { Json, Node } from '../../json/scan.ts';
import type { Asking, Format, Reasoning, Turn } from './asking.ts';
import { takeMembers } from './members.ts';
import { beginReading, type Reading, refuse, refuseUnknown, requireKind, textOf, typeOf } from './reading.ts';
import { responsesFields as fields } from './responses-fields.ts';
import { readInput } from './responses-items.ts';
import { createToolOffers } from './responses-tools.ts';
import { createTurns } from './turns.ts';

/** Reads a request of the responses dialect. `open` opens the caller's seals. */
export function* readResponses(json: Json, open: Reading['open']): Cooperative<Asking> {
  const reading = beginReading(json, open);
  const { nodes, raw, raws, string } = takeMembers(reading, json.root, fields.request);
  if (raw('background') === 'true') {
    refuse(reading, nodes.background ?? json.root, 'is not supported: nothing is stored. Leave it out.');
  }
  const [turns, offers] = [createTurns(reading), createToolOffers(reading)];
  const { tools, input, tool_choice: choice } = nodes;
  const instructions = string('instructions');
  if (instructions !== undefined) turns.system([instructions]);
  if (tools !== undefined) yield* offers.read(tools);
  if (input !== undefined) yield* readInput({ reading, turns, offers }, input);
  const { replaysAll, ...reasoning } = readReasoning(reading, nodes.reasoning);
  const format = readText(reading, nodes.text);
  const asksFor = (what: string) => includes(reading, nodes.include, what);
  const asksForLogprobs = asksFor('"message.output_text.logprobs"');
  return {
    json,
    stream: raw('stream') === 'true',
    turns: replaysAll ? turns.finish() : withoutOldThoughts(turns.finish()),
    offers: offers.finish(),
    choice: choice === undefined ? undefined : yield* offers.readChoice(choice),
    oneCall: raw('parallel_tool_calls') === 'false',
    limit: raw('max_output_tokens'),
    sampling: {
      ...raws('temperature', 'top_p', 'presence_penalty', 'frequency_penalty'),
      logprobs: asksForLogprobs || nodes.top_logprobs !== undefined ? 'true' : undefined,
      ...raws('top_logprobs'),
    },
    reasoning,
    format: format === undefined ? undefined : readFormat(reading, format),
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
  const { nodes, raw } = takeMembers(reading, at, fields.reasoning);
  const replaysAll = raw('context') !== '"current_turn"';
  const { effort } = nodes;
  if (effort === undefined) return { replaysAll };
  const name = textOf(reading, effort);
  return { replaysAll, wish: name === 'none' ? 'off' : 'on', level: { at: effort, name, exact: true } };
}

/** The format that the text must have. */
function readText(reading: Reading, at: Node | undefined): Node | undefined {
  if (at === undefined) return undefined;
  const { nodes, raw } = takeMembers(reading, at, fields.text);
  const { verbosity, format } = nodes;
  // The middle is what a model does without being asked.
  if (verbosity !== undefined && raw('verbosity') !== '"medium"') reading.leftOut.push(verbosity);
  return format;
}

/** Without the thoughts from before the last message of the user. */
function withoutOldThoughts(turns: readonly Turn[]): readonly Turn[] {
  const last = turns.findLastIndex(({ role }) => role === 'user');
  return turns.map((turn, index) => (turn.role === 'assistant' && index < last ? { ...turn, thoughts: [] } : turn));
}

function readFormat(reading: Reading, at: Node): Format | undefined {
  const type = typeOf(reading, at);
  const { raw, required, requiredString } = takeMembers(reading, at, fields['text.format']);
  if (type === 'text') return undefined;
  if (type === 'json_object') return { kind: 'json' };
  if (type !== 'json_schema') refuseUnknown(reading, at);
  return {
    kind: 'schema',
    name: requiredString('name'),
    description: raw('description'),
    schema: reading.json.raw(required('schema')),
    strict: raw('strict'),
  };
}
