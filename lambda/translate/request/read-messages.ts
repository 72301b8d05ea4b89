import type { Cooperative } from '../../json/cooperative.ts';
import type { Node } from '../../json/scan.ts';
import type { Asking, Turn } from './asking.ts';
import { readMessageList, readSystem } from './messages-blocks.ts';
import { messagesFields as fields } from './messages-fields.ts';
import { type Choice, createOffers, type Offer, type Offers } from './offers.ts';
import { toSchemaFormat } from './parts.ts';
import type { Reading, RefusedTypes } from './reading.ts';
import { createTurns } from './turns.ts';

/** Reads a request of the messages dialect. */
export function* readMessages(reading: Reading): Cooperative<Asking> {
  const { json } = reading;
  const { nodes, raw, raws } = reading.take(json.root, fields.request);
  const turns = createTurns(reading);
  const { messages, stop_sequences: stops } = nodes;
  const system = nodes.system === undefined ? [] : yield* readSystem(reading, nodes.system);
  if (system.length > 0) turns.add('system', system);
  if (messages !== undefined) yield* readMessageList(reading, turns, messages);
  const { effort, format } = readConfig(reading, nodes.output_config, nodes.output_format);
  const offers = createOffers(reading);
  if (nodes.tools !== undefined) yield* readTools(reading, offers, nodes.tools);
  const { choice, oneCall } = readChoice(reading, offers, nodes.tool_choice);
  const kept = readKeptThoughts(reading, nodes.context_management);
  return {
    stream: raw('stream') === 'true',
    turns: dropOldThoughts(turns.finish(), kept),
    tools: offers.select(choice),
    oneCall,
    limit: raw('max_tokens'),
    sampling: {
      ...raws('temperature', 'top_p', 'top_k'),
      stop: stops === undefined ? undefined : readStops(reading, stops),
    },
    ...readThinking(reading, nodes.thinking, effort),
    format: format === undefined ? undefined : readFormat(reading, format),
  };
}

interface Config {
  readonly effort?: Node | undefined;
  readonly format: Node | undefined;
}

/** The format stood beside the configuration before it stood in it. */
function readConfig(reading: Reading, at: Node | undefined, earlier: Node | undefined): Config {
  if (at === undefined) return { format: earlier };
  const { effort, format } = reading.take(at, fields.output_config).nodes;
  if (format !== undefined && earlier !== undefined) reading.leftOut.push(earlier);
  return { effort, format: format ?? earlier };
}

/** Some servers refuse an empty list. */
function readStops(reading: Reading, list: Node): string | undefined {
  reading.requireKind(list, 'array');
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
function* readTools(reading: Reading, offers: Offers, list: Node): Cooperative<void> {
  const deferred = new Map<string, Offer>();
  const offered = yield* reading.readList(list, (at) => {
    const type = reading.typeOf(at);
    if (type !== '' && type !== 'custom') reading.refuseUnknown(at, refusedTools);
    const { raw, requiredText } = reading.take(at, fields.tool);
    const name = requiredText('name');
    const more = { description: raw('description'), parameters: raw('input_schema'), strict: raw('strict') };
    const offer: Offer = { at, tool: { kind: 'function', name }, ...more };
    if (raw('defer_loading') === 'true') {
      deferred.set(name, offer);
      return undefined;
    }
    offers.add(offer);
    return at;
  });
  const [first] = deferred.values();
  if (first && offered.length === 0) {
    const what = 'waits for a search, and no tool is left that could search. Leave out its defer_loading.';
    reading.refuse(first.at, what);
  }
  for (const name of reading.found) {
    const offer = deferred.get(name);
    if (offer) offers.add(offer);
  }
}

const modes: Readonly<Record<string, Choice['mode']>> = { auto: 'auto', any: 'required', none: 'none' };

function readChoice(reading: Reading, offers: Offers, at: Node | undefined): { choice?: Choice; oneCall: boolean } {
  if (at === undefined) return { oneCall: false };
  const type = reading.typeOf(at);
  const { raw, requiredText } = reading.take(at, fields.tool_choice);
  const oneCall = raw('disable_parallel_tool_use') === 'true';
  if (type === 'tool') {
    const forced = offers.nameOf(at, { kind: 'function', name: requiredText('name') });
    return { choice: { at, mode: 'required', forced }, oneCall };
  }
  const mode = Object.hasOwn(modes, type) ? modes[type] : undefined;
  return { choice: { at, mode: mode ?? reading.refuseUnknown(at) }, oneCall };
}

/** The level that a number of tokens stands for. */
const budgets = { low: 2_048, medium: 8_192, high: 24_576 };

type Thinking = Pick<Asking, 'reasoning' | 'thoughts'>;

function readThinking(reading: Reading, thinking: Node | undefined, effort: Node | undefined): Thinking {
  const level = effort === undefined ? undefined : { at: effort, name: reading.textOf(effort), exact: true };
  // This is how the gateway has always read them.
  const thoughts = { shown: true, sealed: true };
  if (level?.name === 'none') return { reasoning: { wish: 'off', offAt: level.at }, thoughts };
  if (thinking === undefined) return { reasoning: { wish: 'off', level }, thoughts };
  if (reading.json.raw(thinking) === 'false') return { reasoning: { wish: 'off', offAt: thinking, level }, thoughts };
  const type = reading.typeOf(thinking);
  const { nodes, raw } = reading.take(thinking, fields.thinking);
  thoughts.shown = raw('display') !== '"omitted"';
  const budget = nodes.budget_tokens;
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

function readFormat(reading: Reading, at: Node): string {
  const type = reading.typeOf(at);
  const { required } = reading.take(at, fields['output_config.format']);
  if (type !== 'json_schema') reading.refuseUnknown(at);
  return toSchemaFormat('"output"', reading.json.raw(required('schema')), { strict: 'true' });
}

/** How many of the assistant's latest turns keep their thoughts. */
function readKeptThoughts(reading: Reading, management: Node | undefined): number {
  let kept = Number.POSITIVE_INFINITY;
  if (management === undefined) return kept;
  const { edits } = reading.take(management, fields.context_management).nodes;
  if (edits === undefined) return kept;
  reading.requireKind(edits, 'array');
  for (const edit of reading.json.elements(edits)) {
    if (reading.typeOf(edit) !== 'clear_thinking_20251015') {
      reading.refuseType(edit, 'shortens the history, which nothing here does. Leave it out.');
    }
    const { keep } = reading.take(edit, fields.clear_thinking_20251015).nodes;
    kept = Math.min(kept, keep === undefined ? 1 : readKeep(reading, keep));
  }
  return kept;
}

function readKeep(reading: Reading, keep: Node): number {
  const { json } = reading;
  if (json.raw(keep) === '"all"') return Number.POSITIVE_INFINITY;
  const type = reading.typeOf(keep);
  const { required } = reading.take(keep, fields['clear_thinking_20251015.keep']);
  if (type === 'all') return Number.POSITIVE_INFINITY;
  if (type !== 'thinking_turns') reading.refuseUnknown(keep);
  const count = required('value');
  reading.requireKind(count, 'number');
  return Number(json.raw(count));
}

/** A turn of the assistant goes on through its calls, until the user says something. */
function dropOldThoughts(turns: readonly Turn[], kept: number): readonly Turn[] {
  let left = kept;
  let isCounted = false;
  for (const turn of turns.toReversed()) {
    if (turn.role === 'user') isCounted = false;
    if (turn.role !== 'assistant' || turn.thoughts.length === 0) continue;
    if (!isCounted) left -= 1;
    isCounted = true;
    if (left < 0) turn.thoughts = [];
  }
  return turns;
}
