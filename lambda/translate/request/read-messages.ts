import type { Cooperative } from '../../json/cooperative.ts';
import type { Json, Node } from '../../json/scan.ts';
import type { Asking, Choice, Format, Offer } from './asking.ts';
import { takeMembers } from './members.ts';
import { readMessageList, readSystem } from './messages-blocks.ts';
import { messagesFields as fields } from './messages-fields.ts';
import { beginReading, type Reading, readList } from './reading.ts';
import { type RefusedTypes, refuse, refuseByType, refuseType, refuseUnknown, requireKind, typeOf } from './refusals.ts';
import { createTurns } from './turns.ts';

/** Reads a request of the messages dialect. `open` opens the caller's seals. */
export function* readMessages(json: Json, open: Reading['open']): Cooperative<Asking> {
  const reading = beginReading(json, open);
  const asked = takeMembers(reading, json.root, fields.request);
  const { messages, stop_sequences: stops, max_tokens: limit, temperature, top_p, top_k } = asked;
  const turns = createTurns(reading);
  const system = asked.system === undefined ? [] : yield* readSystem(reading, asked.system);
  if (system.length > 0) turns.system(system);
  if (messages !== undefined) yield* readMessageList(reading, turns, messages);
  const { output_format: earlier, output_config: { effort, format = earlier } = {} } = asked;
  // The format stood beside the configuration before it stood in it.
  if (earlier !== undefined && format !== earlier) reading.leftOut.push(earlier);
  const choice = readChoice(reading, asked.tool_choice);
  const kept = readKeptThoughts(reading, asked.context_management?.edits);
  return {
    json,
    stream: asked.stream === true,
    turns: turns.finish((_spoken, thought) => thought <= kept),
    offers: yield* readTools(reading, asked.tools),
    ...choice,
    limit,
    sampling: { temperature, top_p, top_k, stop: stops === undefined ? undefined : readStops(reading, stops) },
    ...readThinking(reading, asked.thinking, effort),
    format: format === undefined ? undefined : readFormat(reading, format),
    leftOut: reading.leftOut,
    unread: reading.unread,
  };
}

/** Some servers refuse an empty list. */
function readStops(reading: Reading, list: Node): string | undefined {
  requireKind(reading, list, 'array');
  return reading.json.next(list) === list + 1 ? undefined : reading.json.raw(list);
}

/** Tools with a type of their own. */
const refusedTools: RefusedTypes = [
  [
    /^(web_search|web_fetch|code_execution|tool_search|advisor|mcp_toolset)/,
    'runs at the vendor, and this model has none. Leave it out of tools.',
  ],
  [
    /^(bash|text_editor|memory|computer|browser)/,
    "is described to its vendor's models only. Offer a tool with a description and an input_schema.",
  ],
];

/** The tools that may be called now: of those that wait for the client's search, only what it has found, at the end. */
function* readTools(reading: Reading, list: Node | undefined): Cooperative<Offer[]> {
  if (list === undefined) return [];
  const deferred = new Map<string, Offer>();
  const offers = yield* readList<Offer>(reading, list, (at) => {
    const type = typeOf(reading, at);
    if (type !== '' && type !== 'custom') refuseByType(reading, at, refusedTools);
    const { name, description, input_schema: parameters, strict, ...more } = takeMembers(reading, at, fields.tool);
    const offer: Offer = { at, tool: { kind: 'function', name }, description, parameters, strict };
    if (more.defer_loading !== true) return offer;
    deferred.set(name, offer);
    return undefined;
  });
  const [first] = deferred.values();
  if (first && offers.length === 0) {
    const what = 'waits for a search, and no tool is left that could search. Leave out its defer_loading.';
    refuse(reading, first.at, what);
  }
  return [...offers, ...[...reading.found].flatMap((name) => deferred.get(name) ?? [])];
}

const modes: Readonly<Record<string, Choice['mode']>> = { auto: 'auto', any: 'required', none: 'none' };

function readChoice(reading: Reading, at: Node | undefined): Pick<Asking, 'choice' | 'oneCall'> {
  if (at === undefined) return { choice: undefined, oneCall: false };
  const type = typeOf(reading, at);
  if (type === 'tool') {
    const { name, disable_parallel_tool_use: one = false } = takeMembers(reading, at, fields['tool_choice of a tool']);
    return { choice: { at, mode: 'required', forced: { kind: 'function', name } }, oneCall: one };
  }
  const { disable_parallel_tool_use: oneCall = false } = takeMembers(reading, at, fields.tool_choice);
  const mode = Object.hasOwn(modes, type) ? modes[type] : undefined;
  return { choice: { at, mode: mode ?? refuseUnknown(reading, at) }, oneCall };
}

/** The level that a number of tokens stands for. */
const budgets = { low: 2_048, medium: 8_192, high: 24_576 };

type Thinking = Pick<Asking, 'reasoning' | 'thoughts'>;

function readThinking(reading: Reading, thinking: Node | undefined, effort: Node | undefined): Thinking {
  const level = effort === undefined ? undefined : { at: effort, name: reading.json.string(effort), exact: true };
  // This is how the gateway has always read them.
  const thoughts = { shown: true, sealed: true };
  if (level?.name === 'none') return { reasoning: { wish: 'off', offAt: level.at }, thoughts };
  if (thinking === undefined) return { reasoning: { wish: 'off', level }, thoughts };
  if (reading.json.raw(thinking) === 'false') return { reasoning: { wish: 'off', offAt: thinking, level }, thoughts };
  const type = typeOf(reading, thinking);
  const { budget_tokens: budget, display } = takeMembers(reading, thinking, fields.thinking);
  thoughts.shown = display !== '"omitted"';
  if (type === 'disabled') return { reasoning: { wish: 'off', offAt: thinking, level }, thoughts };
  if (type === 'enabled' && budget !== undefined) {
    if (level !== undefined) reading.leftOut.push(budget);
    const tokens = Number(reading.json.raw(budget));
    const [name] = Object.entries(budgets).find(([, most]) => tokens <= most) ?? ['max'];
    return { reasoning: { wish: 'on', level: level ?? { at: budget, name, exact: false } }, thoughts };
  }
  if (type !== 'enabled' && type !== 'adaptive') reading.unread.push(thinking);
  return { reasoning: { wish: type === 'enabled' || level !== undefined ? 'on' : undefined, level }, thoughts };
}

function readFormat(reading: Reading, at: Node): Format {
  const type = typeOf(reading, at);
  if (type !== 'json_schema') refuseUnknown(reading, at);
  const { schema } = takeMembers(reading, at, fields['output_config.format']);
  return { name: '"output"', schema, strict: 'true' };
}

/** How many of the assistant's latest turns keep their thoughts. */
function readKeptThoughts(reading: Reading, edits: Node | undefined): number {
  let kept = Number.POSITIVE_INFINITY;
  if (edits === undefined) return kept;
  requireKind(reading, edits, 'array');
  for (const edit of reading.json.elements(edits)) {
    if (typeOf(reading, edit) !== 'clear_thinking_20251015') {
      refuseType(reading, edit, 'shortens the history, which nothing here does. Leave it out.');
    }
    const { keep } = takeMembers(reading, edit, fields.clear_thinking_20251015);
    kept = Math.min(kept, keep === undefined ? 1 : readKeep(reading, keep));
  }
  return kept;
}

function readKeep(reading: Reading, keep: Node): number {
  if (reading.json.raw(keep) === '"all"') return Number.POSITIVE_INFINITY;
  const type = typeOf(reading, keep);
  if (type === 'thinking_turns') return takeMembers(reading, keep, fields['clear_thinking.keep of turns']).value;
  takeMembers(reading, keep, fields['clear_thinking.keep']);
  return type === 'all' ? Number.POSITIVE_INFINITY : refuseUnknown(reading, keep);
}
