import type { Json, Node } from '../../json/scan.ts';
import type { Format, ModelRequest, ToolChoice } from '../model/request/model-request.ts';
import { refuseType, refuseUnknown, requireKind, typeOf } from '../model/request/refuse-item.ts';
import { createRequestReader, type RequestReader, readList } from '../model/request/request-reader.ts';
import { takeMembers } from '../model/request/take-members.ts';
import { createTurnBuilder } from '../model/request/turn-builder.ts';
import { checkVersion } from './check-version.ts';
import { readMessageList, readSystem } from './read-blocks.ts';
import { createToolOffers } from './read-tools.ts';
import { messagesFields as fields } from './request-fields.ts';

/** Reads a client's messages request. `open` opens the caller's seals. `version`: the API version that the client names. */
export function readMessages(json: Json, open: RequestReader['open'], version?: string): ModelRequest {
  const reader = createRequestReader(json, open);
  const request = takeMembers(reader, json.root, fields.request);
  checkVersion(reader, version, request.messages);
  const { messages, stop_sequences: stops, max_tokens: limit, temperature, top_p, top_k } = request;
  const [turns, offers] = [createTurnBuilder(reader), createToolOffers(reader)];
  if (request.tools !== undefined) offers.read(request.tools);
  const system = request.system === undefined ? [] : readSystem(reader, request.system);
  if (system.length > 0) turns.system(system);
  const { output_format: earlier, output_config: { effort: first, format = earlier } = {} } = request;
  const effort = (messages && readMessageList({ reader, turns, offers }, messages)) ?? first;
  // `output_format` is the predecessor of `output_config.format`.
  if (earlier !== undefined && format !== earlier) reader.leftOut.push(earlier);
  const choice = readChoice(reader, request.tool_choice);
  const kept = readKeptReasoning(reader, request.context_management?.edits);
  return {
    json,
    stream: request.stream === true,
    turns: turns.finish((_userMessages, rank) => rank <= kept),
    tools: offers.finish(),
    ...choice,
    limit,
    sampling: { temperature, top_p, top_k, stop: stops === undefined ? undefined : readStops(reader, stops) },
    ...readThinking(reader, request.thinking, effort),
    format: format === undefined ? undefined : readFormat(reader, format),
    leftOut: reader.leftOut,
    unknown: reader.unknown,
  };
}

/** Some servers refuse an empty list. */
function readStops(reader: RequestReader, list: Node): string | undefined {
  requireKind(reader, list, 'array');
  return reader.json.next(list) === list + 1 ? undefined : reader.json.raw(list);
}

const modes: Readonly<Record<string, ToolChoice['mode']>> = { auto: 'auto', any: 'required', none: 'none' };

function readChoice(reader: RequestReader, at: Node | undefined): Pick<ModelRequest, 'choice' | 'oneCall'> {
  if (at === undefined) return { choice: undefined, oneCall: false };
  const type = typeOf(reader, at);
  if (type === 'tool') {
    const { name, disable_parallel_tool_use: one = false } = takeMembers(reader, at, fields['tool_choice of a tool']);
    return { choice: { at, mode: 'required', forced: { kind: 'function', name } }, oneCall: one };
  }
  const { disable_parallel_tool_use: oneCall = false } = takeMembers(reader, at, fields.tool_choice);
  const mode = Object.hasOwn(modes, type) ? modes[type] : undefined;
  return { choice: { at, mode: mode ?? refuseUnknown(reader, at) }, oneCall };
}

/** The largest token budget of each level. */
const budgets = { low: 2_048, medium: 8_192, high: 24_576 };

type Thinking = Pick<ModelRequest, 'effort' | 'reasoning'>;

function readThinking(reader: RequestReader, thinking: Node | undefined, effort: Node | undefined): Thinking {
  const level = effort === undefined ? undefined : { at: effort, name: reader.json.string(effort), exact: true };
  // Messages clients have to send reasoning back, so it is always sealed.
  const reasoning = { shown: true, sealed: true };
  if (level?.name === 'none') return { effort: { wish: 'off', offAt: level.at }, reasoning };
  if (thinking === undefined) return { effort: { wish: 'off', level }, reasoning };
  if (reader.json.raw(thinking) === 'false') return { effort: { wish: 'off', offAt: thinking, level }, reasoning };
  const type = typeOf(reader, thinking);
  const { budget_tokens: budget, display } = takeMembers(reader, thinking, fields.thinking);
  reasoning.shown = display !== '"omitted"';
  if (type === 'disabled') return { effort: { wish: 'off', offAt: thinking, level }, reasoning };
  if (type === 'enabled' && budget !== undefined) {
    if (level !== undefined) reader.leftOut.push(budget);
    const tokens = Number(reader.json.raw(budget));
    const [name] = Object.entries(budgets).find(([, most]) => tokens <= most) ?? ['max'];
    return { effort: { wish: 'on', level: level ?? { at: budget, name, exact: false } }, reasoning };
  }
  if (type !== 'enabled' && type !== 'adaptive') reader.unknown.push(thinking);
  return { effort: { wish: type === 'enabled' || level !== undefined ? 'on' : undefined, level }, reasoning };
}

function readFormat(reader: RequestReader, at: Node): Format {
  const type = typeOf(reader, at);
  if (type !== 'json_schema') refuseUnknown(reader, at);
  const { schema } = takeMembers(reader, at, fields['output_config.format']);
  return { name: '"output"', schema, strict: 'true' };
}

/** How many of the assistant's latest turns keep their reasoning. */
function readKeptReasoning(reader: RequestReader, edits: Node | undefined): number {
  let kept = Number.POSITIVE_INFINITY;
  if (edits === undefined) return kept;
  readList(reader, edits, (edit) => {
    if (typeOf(reader, edit) !== 'clear_thinking_20251015') {
      refuseType(reader, edit, 'shortens the history, which nothing here does. Leave it out.');
    }
    const { keep } = takeMembers(reader, edit, fields.clear_thinking_20251015);
    kept = Math.min(kept, keep === undefined ? 1 : readKeep(reader, keep));
  });
  return kept;
}

function readKeep(reader: RequestReader, keep: Node): number {
  if (reader.json.raw(keep) === '"all"') return Number.POSITIVE_INFINITY;
  const type = typeOf(reader, keep);
  if (type === 'thinking_turns') return takeMembers(reader, keep, fields['clear_thinking.keep of turns']).value;
  takeMembers(reader, keep, fields['clear_thinking.keep']);
  return type === 'all' ? Number.POSITIVE_INFINITY : refuseUnknown(reader, keep);
}
