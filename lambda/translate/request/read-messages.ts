import type { Cooperative } from '../../json/cooperative.ts';
import type { Json, Node } from '../../json/scan.ts';
import type { Asking, AssistantTurn, Choice, Format, Offer, Turn } from './asking.ts';
import { takeMembers } from './members.ts';
import { readMessageList, readSystem } from './messages-blocks.ts';
import { messagesFields as fields } from './messages-fields.ts';
import {
  beginReading,
  type Reading,
  type RefusedTypes,
  readList,
  refuse,
  refuseByType,
  refuseType,
  refuseUnknown,
  requireKind,
  textOf,
  typeOf,
} from './reading.ts';
import { createTurns } from './turns.ts';

/** Reads a request of the messages dialect. `open` opens the caller's seals. */
export function* readMessages(json: Json, open: Reading['open']): Cooperative<Asking> {
  const reading = beginReading(json, open);
  const { nodes, raw, raws } = takeMembers(reading, json.root, fields.request);
  const turns = createTurns(reading);
  const { messages, stop_sequences: stops } = nodes;
  const system = nodes.system === undefined ? [] : yield* readSystem(reading, nodes.system);
  if (system.length > 0) turns.system(system);
  if (messages !== undefined) yield* readMessageList(reading, turns, messages);
  const { effort, format } = readConfig(reading, nodes.output_config, nodes.output_format);
  const { choice, oneCall } = readChoice(reading, nodes.tool_choice);
  const kept = readKeptThoughts(reading, nodes.context_management);
  return {
    json,
    stream: raw('stream') === 'true',
    turns: withoutOldThoughts(turns.finish(), kept),
    offers: yield* readTools(reading, nodes.tools),
    choice,
    oneCall,
    limit: raw('max_tokens'),
    sampling: {
      ...raws('temperature', 'top_p', 'top_k'),
      stop: stops === undefined ? undefined : readStops(reading, stops),
    },
    ...readThinking(reading, nodes.thinking, effort),
    format: format === undefined ? undefined : readFormat(reading, format),
    leftOut: reading.leftOut,
    unread: reading.unread,
  };
}

interface Config {
  readonly effort?: Node | undefined;
  readonly format: Node | undefined;
}

/** The format stood beside the configuration before it stood in it. */
function readConfig(reading: Reading, at: Node | undefined, earlier: Node | undefined): Config {
  if (at === undefined) return { format: earlier };
  const { effort, format } = takeMembers(reading, at, fields.output_config).nodes;
  if (format !== undefined && earlier !== undefined) reading.leftOut.push(earlier);
  return { effort, format: format ?? earlier };
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
    const { raw, requiredText } = takeMembers(reading, at, fields.tool);
    const name = requiredText('name');
    const offer: Offer = {
      at,
      tool: { kind: 'function', name },
      description: raw('description'),
      parameters: raw('input_schema'),
      strict: raw('strict'),
    };
    if (raw('defer_loading') !== 'true') return offer;
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
  const { raw, requiredText } = takeMembers(reading, at, fields.tool_choice);
  const oneCall = raw('disable_parallel_tool_use') === 'true';
  if (type === 'tool') {
    const forced = { kind: 'function' as const, name: requiredText('name') };
    return { choice: { at, mode: 'required', forced }, oneCall };
  }
  const mode = Object.hasOwn(modes, type) ? modes[type] : undefined;
  return { choice: { at, mode: mode ?? refuseUnknown(reading, at) }, oneCall };
}

/** The level that a number of tokens stands for. */
const budgets = { low: 2_048, medium: 8_192, high: 24_576 };

type Thinking = Pick<Asking, 'reasoning' | 'thoughts'>;

function readThinking(reading: Reading, thinking: Node | undefined, effort: Node | undefined): Thinking {
  const level = effort === undefined ? undefined : { at: effort, name: textOf(reading, effort), exact: true };
  // This is how the gateway has always read them.
  const thoughts = { shown: true, sealed: true };
  if (level?.name === 'none') return { reasoning: { wish: 'off', offAt: level.at }, thoughts };
  if (thinking === undefined) return { reasoning: { wish: 'off', level }, thoughts };
  if (reading.json.raw(thinking) === 'false') return { reasoning: { wish: 'off', offAt: thinking, level }, thoughts };
  const type = typeOf(reading, thinking);
  const { nodes, raw } = takeMembers(reading, thinking, fields.thinking);
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

function readFormat(reading: Reading, at: Node): Format {
  const type = typeOf(reading, at);
  const { required } = takeMembers(reading, at, fields['output_config.format']);
  if (type !== 'json_schema') refuseUnknown(reading, at);
  const schema = reading.json.raw(required('schema'));
  return { kind: 'schema', name: '"output"', description: undefined, schema, strict: 'true' };
}

/** How many of the assistant's latest turns keep their thoughts. */
function readKeptThoughts(reading: Reading, management: Node | undefined): number {
  let kept = Number.POSITIVE_INFINITY;
  if (management === undefined) return kept;
  const { edits } = takeMembers(reading, management, fields.context_management).nodes;
  if (edits === undefined) return kept;
  requireKind(reading, edits, 'array');
  for (const edit of reading.json.elements(edits)) {
    if (typeOf(reading, edit) !== 'clear_thinking_20251015') {
      refuseType(reading, edit, 'shortens the history, which nothing here does. Leave it out.');
    }
    const { keep } = takeMembers(reading, edit, fields.clear_thinking_20251015).nodes;
    kept = Math.min(kept, keep === undefined ? 1 : readKeep(reading, keep));
  }
  return kept;
}

function readKeep(reading: Reading, keep: Node): number {
  const { json } = reading;
  if (json.raw(keep) === '"all"') return Number.POSITIVE_INFINITY;
  const type = typeOf(reading, keep);
  const { required } = takeMembers(reading, keep, fields['clear_thinking_20251015.keep']);
  if (type === 'all') return Number.POSITIVE_INFINITY;
  if (type !== 'thinking_turns') refuseUnknown(reading, keep);
  const count = required('value');
  requireKind(reading, count, 'number');
  return Number(json.raw(count));
}

/** A turn of the assistant goes on through its calls, until the user says something. */
function withoutOldThoughts(turns: readonly Turn[], kept: number): readonly Turn[] {
  if (kept === Number.POSITIVE_INFINITY) return turns;
  let thoughtful = 0;
  let counted = false;
  const result = turns.toReversed().map((turn) => {
    if (turn.role === 'user') counted = false;
    if (turn.role !== 'assistant' || turn.thoughts.length === 0) return turn;
    if (!counted) thoughtful += 1;
    counted = true;
    return thoughtful > kept ? { ...turn, thoughts: [] as AssistantTurn['thoughts'] } : turn;
  });
  return result.reverse();
}
