import type { Cooperative } from '../../json/cooperative.ts';
import type { Json, Node } from '../../json/scan.ts';
import type { Asking, AssistantTurn, Choice, Format, Offer, Reasoning, Turn } from './asking.ts';
import { readMessageList, readSystem } from './messages-blocks.ts';
import { messagesFields as fields } from './messages-fields.ts';
import {
  beginReading,
  createTurns,
  type Reading,
  rawOf,
  refuse,
  refuseType,
  refuseUnknown,
  required,
  requireKind,
  takeMembers,
  textOf,
  typeOf,
} from './reading.ts';

/** Reads a request of the messages dialect. `open` opens the caller's seals. */
export function* readMessages(json: Json, open: Reading['open']): Cooperative<Asking> {
  const reading = beginReading(json, open);
  const taken = takeMembers(reading, json.root, fields.request);
  const turns = createTurns(reading);
  const system = taken.system === undefined ? [] : yield* readSystem(reading, taken.system);
  if (system.length > 0) turns.system(system);
  if (taken.messages !== undefined) yield* readMessageList(reading, turns, taken.messages);
  const config =
    taken.output_config === undefined ? {} : takeMembers(reading, taken.output_config, fields.output_config);
  const { choice, oneCall } = readChoice(reading, taken.tool_choice);
  const kept = readKeptThoughts(reading, taken.context_management);
  const format = config.format ?? taken.output_format;
  if (config.format !== undefined && taken.output_format !== undefined) reading.leftOut.push(taken.output_format);
  return {
    json,
    stream: rawOf(reading, taken.stream) === 'true',
    turns: withoutOldThoughts(turns.finish(), kept),
    offers: taken.tools === undefined ? [] : readTools(reading, taken.tools),
    choice,
    oneCall,
    limit: rawOf(reading, taken.max_tokens),
    sampling: {
      temperature: rawOf(reading, taken.temperature),
      top_p: rawOf(reading, taken.top_p),
      top_k: rawOf(reading, taken.top_k),
      stop: taken.stop_sequences === undefined ? undefined : readStops(reading, taken.stop_sequences),
    },
    ...readThinking(reading, taken.thinking, config.effort),
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

const vendorRun = 'runs at the vendor, and this model has none. Leave it out of tools.';
const vendorKnown = "is described to its vendor's models only. Offer a tool with a description and an input_schema.";

/** Tools with a type of their own, with the end of the sentence that refuses them. */
export const refusedTools: readonly (readonly [types: RegExp, sentence: string])[] = [
  [/^(web_search|web_fetch|code_execution|tool_search|advisor|mcp_toolset)/, vendorRun],
  [/^(bash|text_editor|memory|computer|browser)/, vendorKnown],
];

/** The tools that may be called now: of those that wait for the client's search, only what it has found, at the end. */
function readTools(reading: Reading, list: Node): Offer[] {
  requireKind(reading, list, 'array');
  const deferred = new Map<string, Offer>();
  const offers: Offer[] = [];
  for (const tool of reading.json.elements(list)) {
    const type = typeOf(reading, tool);
    if (type !== '' && type !== 'custom') {
      const [, sentence] = refusedTools.find(([types]) => types.test(type)) ?? [];
      return sentence === undefined ? refuseUnknown(reading, tool) : refuseType(reading, tool, sentence);
    }
    const taken = takeMembers(reading, tool, fields.tool);
    const name = textOf(reading, required(reading, tool, 'name', taken.name));
    const offer: Offer = {
      at: tool,
      tool: { kind: 'function', name },
      description: rawOf(reading, taken.description),
      parameters: rawOf(reading, taken.input_schema),
      strict: rawOf(reading, taken.strict),
    };
    if (rawOf(reading, taken.defer_loading) === 'true') deferred.set(name, offer);
    else offers.push(offer);
  }
  const [first] = deferred.values();
  if (first && offers.length === 0) {
    refuse(
      reading,
      first.at,
      'waits for a search, and no tool is left that could search. Leave out its defer_loading.',
    );
  }
  return [...offers, ...[...reading.found].flatMap((name) => deferred.get(name) ?? [])];
}

const modes: Readonly<Record<string, Choice['mode']>> = { auto: 'auto', any: 'required', none: 'none' };

function readChoice(reading: Reading, at: Node | undefined): { choice: Choice | undefined; oneCall: boolean } {
  if (at === undefined) return { choice: undefined, oneCall: false };
  const type = typeOf(reading, at);
  const { name, disable_parallel_tool_use: alone } = takeMembers(reading, at, fields.tool_choice);
  const oneCall = rawOf(reading, alone) === 'true';
  if (type === 'tool') {
    const forced = { kind: 'function' as const, name: textOf(reading, required(reading, at, 'name', name)) };
    return { choice: { at, mode: 'required', forced }, oneCall };
  }
  const mode = Object.hasOwn(modes, type) ? modes[type] : undefined;
  return { choice: { at, mode: mode ?? refuseUnknown(reading, at) }, oneCall };
}

/** The level that a number of tokens stands for. */
const budgets = [
  ['low', 2_048],
  ['medium', 8_192],
  ['high', 24_576],
] as const;

type Thinking = Pick<Asking, 'reasoning' | 'thoughts'>;

function readThinking(reading: Reading, thinking: Node | undefined, effort: Node | undefined): Thinking {
  const name = textOf(reading, effort);
  const level = effort === undefined || name === undefined ? undefined : { at: effort, name, exact: true };
  // This is how the gateway has always read them.
  const thoughts = { shown: true, sealed: true };
  if (level?.name === 'none') return { reasoning: { wish: 'off', offAt: level.at }, thoughts };
  if (thinking === undefined) return { reasoning: { wish: 'off', level }, thoughts };
  if (rawOf(reading, thinking) === 'false') return { reasoning: { wish: 'off', offAt: thinking, level }, thoughts };
  const type = typeOf(reading, thinking);
  const { budget_tokens: budget, display } = takeMembers(reading, thinking, fields.thinking);
  return {
    reasoning: readWish(reading, { thinking, type, budget, level }),
    thoughts: { ...thoughts, shown: rawOf(reading, display) !== '"omitted"' },
  };
}

interface Wish {
  readonly thinking: Node;
  readonly type: string;
  readonly budget: Node | undefined;
  readonly level: Reasoning['level'];
}

function readWish(reading: Reading, { thinking, type, budget, level }: Wish): Reasoning {
  if (type === 'disabled') return { wish: 'off', offAt: thinking, level };
  if (type === 'enabled' && budget !== undefined) {
    if (level !== undefined) reading.leftOut.push(budget);
    const tokens = Number(reading.json.raw(budget));
    const [derived] = budgets.find(([, most]) => tokens <= most) ?? ['max'];
    return { wish: 'on', level: level ?? { at: budget, name: derived, exact: false } };
  }
  if (type !== 'enabled' && type !== 'adaptive') reading.unread.push(thinking);
  return { wish: type === 'enabled' || level !== undefined ? 'on' : undefined, level };
}

function readFormat(reading: Reading, at: Node): Format {
  const type = typeOf(reading, at);
  const { schema } = takeMembers(reading, at, fields['output_config.format']);
  if (type !== 'json_schema') refuseUnknown(reading, at);
  const raw = reading.json.raw(required(reading, at, 'schema', schema));
  return { kind: 'schema', name: '"output"', description: undefined, schema: raw, strict: 'true' };
}

/** How many of the assistant's latest turns keep their thoughts. */
function readKeptThoughts(reading: Reading, management: Node | undefined): number {
  let kept = Number.POSITIVE_INFINITY;
  if (management === undefined) return kept;
  const { edits } = takeMembers(reading, management, fields.context_management);
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
  const { json } = reading;
  if (json.raw(keep) === '"all"') return Number.POSITIVE_INFINITY;
  const type = typeOf(reading, keep);
  const { value } = takeMembers(reading, keep, fields['clear_thinking_20251015.keep']);
  if (type === 'all') return Number.POSITIVE_INFINITY;
  if (type !== 'thinking_turns') refuseUnknown(reading, keep);
  const count = required(reading, keep, 'value', value);
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
