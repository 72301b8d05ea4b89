import { pathTo } from '../../dialects/content.ts';
import { type Cooperative, nodesPerTurn } from '../../json/cooperative.ts';
import type { Json, Node } from '../../json/scan.ts';
import { type Format, type ModelRequest, quote } from '../request/model-request.ts';
import { refuse } from '../request/refusals.ts';
import { type BodyText, type ChatUpstream, createBodyText, type RequestWriter } from '../request/request-writer.ts';
import { createToolTable } from '../tools.ts';
import { selectTools, writeTools } from './write-tools.ts';
import { writeMessages } from './write-turns.ts';

const longestName = 64;

/** Writes a chat request to the model with this id. Throws a 400 that names the place of what chat can't carry. */
export function* writeChat(request: ModelRequest, upstream: ChatUpstream, model: string) {
  const { json, unread, format } = request;
  const [unknown] = unread;
  if (upstream.unknown === 'refuse' && unknown !== undefined) {
    refuse(request, unknown, 'is not supported with this model. Leave it out.');
  }
  const leftOut: Node[] = [...request.leftOut, ...unread];
  const body = createBodyText();
  const tools = createToolTable(longestName);
  const writer: RequestWriter = { request, upstream, names: tools, body, leaveOut: (at) => leftOut.push(at) };
  const { add } = body;
  add('{"model":', quote(model), ',"messages":[');
  // First, so that the tools offered have the names before those that are only remembered.
  const selection = yield* selectTools(writer);
  yield* writeMessages(writer);
  add(']');
  yield* writeTools(writer, selection);
  for (const [name, raw] of Object.entries(limitsOf(writer))) if (raw !== undefined) add(`,"${name}":`, raw);
  if (format === 'json') add(',"response_format":{"type":"json_object"}');
  else if (format !== undefined) addSchema(body, format);
  writeReasoning(writer);
  add('}');
  const named = yield* firstOf(leftOut);
  const unnamed = new Set(yield* firstOf(unread));
  return {
    /** The body's text in pieces, so that a long one need never be joined. */
    pieces: body.finish(),
    /** The places of what the upstream was not told, as a header names them; undefined if there are none. */
    leftOut: namePlaces(json, named, leftOut.length),
    /** The same for the log, which holds no name of the caller's own. */
    leftOutForLog: namePlaces(json, named, leftOut.length, unnamed),
    leftOutNodes: yield* setOf(leftOut),
    tools,
  };
}

function* setOf(nodes: readonly Node[]): Cooperative<ReadonlySet<Node>> {
  const set = new Set<Node>();
  for (const node of nodes) {
    set.add(node);
    if (set.size % nodesPerTurn === 0) yield;
  }
  return set;
}

function limitsOf({ request, upstream }: RequestWriter): ModelRequest['sampling'] {
  const limit = request.limit ?? upstream.limit?.toString();
  return {
    [upstream.limitName]: limit,
    ...request.sampling,
    ...(request.stream && { stream: 'true' }),
    ...(request.stream && upstream.streamOptions === 'send' && { stream_options: '{"include_usage":true}' }),
  };
}

function addSchema({ add }: BodyText, { name, description, schema, strict }: Exclude<Format, 'json'>): void {
  add(',"response_format":{"type":"json_schema","json_schema":{"name":', name);
  if (description !== undefined) add(',"description":', description);
  add(',"schema":', schema);
  if (strict !== undefined) add(',"strict":', strict);
  add('}}');
}

/** From little to much. */
const levels = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** Members that can only switch reasoning on and off. */
const switches: Readonly<Partial<Record<ChatUpstream['reasoning'], (on: boolean) => string>>> = {
  thinking: (on) => `"thinking":{"type":"${on ? 'enabled' : 'disabled'}"}`,
  enable_thinking: (on) => `"enable_thinking":${on}`,
  chat_template_kwargs: (on) => `"chat_template_kwargs":{"enable_thinking":${on}}`,
};

/** Adds how much the model is to reason, by the member that the upstream knows. What it has no word for is left out. */
function writeReasoning(writer: RequestWriter): void {
  const { request, upstream, body, leaveOut } = writer;
  const { wish, level } = request.reasoning;
  const write = switches[upstream.reasoning];
  if (upstream.reasoning === 'reasoning_effort') addEffort(writer);
  else {
    if (write !== undefined && wish !== undefined) body.add(`,${write(wish === 'on')}`);
    // A switch says all there is to say of the level none.
    const isSaid = write !== undefined && level?.name === 'none';
    if (level !== undefined && !isSaid) leaveOut(level.at);
  }
}

function addEffort({ request, upstream, body, leaveOut }: RequestWriter): void {
  const { offAt, level } = request.reasoning;
  // Whoever switches it off has no level.
  if (offAt !== undefined && level !== undefined) leaveOut(level.at);
  const wanted = offAt === undefined ? level : { at: offAt, name: 'none', exact: true };
  if (wanted === undefined) return;
  const known = nearest(wanted.name, upstream.levels);
  if (known !== wanted.name || !wanted.exact) leaveOut(wanted.at);
  if (known !== undefined) body.add(`,"reasoning_effort":"${known}"`);
}

/** The highest known level up to the wanted one, or else the lowest; undefined if nobody knows the wanted one. */
function nearest(wanted: string, known: readonly string[]): string | undefined {
  if (known.includes(wanted)) return wanted;
  const rank = levels.indexOf(wanted);
  if (rank < 0) return undefined;
  const ranked = levels.filter((level) => known.includes(level));
  return ranked.findLast((level) => levels.indexOf(level) <= rank) ?? ranked[0];
}

// With all that stands between them, they fit into 2 KB.
const mostPlaces = 20;
const longestPlace = 100;

/** The nodes to name, in the order of the body. */
export function* firstOf(nodes: readonly Node[]): Cooperative<readonly Node[]> {
  let first: Node[] = [];
  for (let at = 0; at < nodes.length; at += nodesPerTurn) {
    if (at > 0) yield;
    first = [...first, ...nodes.slice(at, at + nodesPerTurn)].sort((a, b) => a - b).slice(0, mostPlaces);
  }
  return first;
}

/**
 * Names the first places of so many, such as `tools[7], input[3].encrypted_content, +2`; undefined if there are none. The names of
 * `unnamed` ones are left out.
 */
export function namePlaces(
  json: Json,
  first: readonly Node[],
  count: number,
  unnamed?: ReadonlySet<Node>,
): string | undefined {
  // Repeated members have one place.
  const places = new Set(first.map((node) => placeOf(json, node, unnamed?.has(node))));
  const more = count > first.length ? [`+${count - first.length}`] : [];
  return [...[...places].map(toHeaderText), ...more].join(', ') || undefined;
}

/** The path to a member; without its own name if that is not known, `messages[0].?`. */
function placeOf(json: Json, node: Node, isUnnamed = false): string {
  const path = pathTo(json, node);
  return isUnnamed && json.isKey(node - 1) ? `${path.slice(0, path.length - json.string(node - 1).length)}?` : path;
}

/** A comma separates places, and only visible ASCII can be sent in a header. */
function toHeaderText(place: string): string {
  // Cut first: a name may be a megabyte long.
  return place.slice(0, longestPlace).replace(/[^\x21-\x7e]|,/g, '?');
}
