import { pathTo } from '../../dialects/body.ts';
import type { Cooperative } from '../../json/cooperative.ts';
import type { Json, Node } from '../../json/scan.ts';
import type { Asking } from './asking.ts';
import { writeMessages } from './chat-messages.ts';
import { quote } from './parts.ts';
import type { Reading } from './reading.ts';
import { type ChatUpstream, createBodyText, type Writing } from './writing.ts';

/**
 * Writes a chat request to the model with this id, in pieces, so that a long one need never be joined. Throws a 400 that names the
 * place of what chat can't carry.
 */
export function* writeChat(
  reading: Reading,
  asking: Asking,
  upstream: ChatUpstream,
  model: string,
): Cooperative<readonly string[]> {
  const [unknown] = reading.unread;
  if (upstream.unknown === 'refuse' && unknown !== undefined) {
    reading.refuse(unknown, 'is not supported with this model. Leave it out.');
  }
  const body = createBodyText();
  const writing: Writing = { reading, asking, upstream, body };
  body.add('{"model":', quote(model), ',"messages":[');
  yield* writeMessages(writing);
  body.add(']');
  yield* writeTools(writing);
  for (const [name, raw] of Object.entries(limitsOf(writing))) if (raw !== undefined) body.add(`,"${name}":`, raw);
  if (asking.format !== undefined) body.add(',"response_format":', asking.format);
  writeReasoning(writing);
  body.add('}');
  return body.finish();
}

/** Adds the members of a body that offer tools; nothing if none is left to offer. */
function* writeTools({ asking: { tools: selected, oneCall }, body }: Writing): Cooperative<void> {
  const { tools, choice } = selected;
  if (tools.length === 0) return;
  for (const [index, tool] of tools.entries()) {
    body.add(index === 0 ? ',"tools":[' : ',', tool);
    if (body.isPauseDue()) yield;
  }
  body.add(']');
  if (choice !== undefined) body.add(',"tool_choice":', choice);
  if (oneCall) body.add(',"parallel_tool_calls":false');
}

function limitsOf({ asking, upstream }: Writing): Asking['sampling'] {
  return {
    [upstream.limitName]: asking.limit ?? upstream.limit?.toString(),
    ...asking.sampling,
    ...(asking.stream && { stream: 'true' }),
    ...(asking.stream && upstream.streamOptions === 'send' && { stream_options: '{"include_usage":true}' }),
  };
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
function writeReasoning(writing: Writing): void {
  const { reading, asking, upstream, body } = writing;
  const { wish, level } = asking.reasoning;
  const write = switches[upstream.reasoning];
  if (upstream.reasoning === 'reasoning_effort') addEffort(writing);
  else {
    if (write !== undefined && wish !== undefined) body.add(`,${write(wish === 'on')}`);
    // A switch says all there is to say of the level none.
    const isSaid = write !== undefined && level?.name === 'none';
    if (level !== undefined && !isSaid) reading.leftOut.push(level.at);
  }
}

function addEffort({ reading, asking, upstream, body }: Writing): void {
  const { offAt, level } = asking.reasoning;
  // Whoever switches it off has no level.
  if (offAt !== undefined && level !== undefined) reading.leftOut.push(level.at);
  const wanted = offAt === undefined ? level : { at: offAt, name: 'none', exact: true };
  if (wanted === undefined) return;
  const known = nearest(wanted.name, upstream.levels);
  if (known !== wanted.name || !wanted.exact) reading.leftOut.push(wanted.at);
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

/** Names places in the order of the body, such as `tools[7], input[3].encrypted_content, +2`; undefined if there are none. */
export function namePlaces(json: Json, nodes: readonly Node[]): string | undefined {
  const sorted = Int32Array.from(nodes).sort();
  // Repeated members have one place.
  const places = new Set([...sorted.slice(0, mostPlaces)].map((node) => pathTo(json, node)));
  const more = sorted.length > mostPlaces ? [`+${sorted.length - mostPlaces}`] : [];
  return [...[...places].map(toHeaderText), ...more].join(', ') || undefined;
}

/** A comma separates places, and only visible ASCII can be sent in a header. */
function toHeaderText(place: string): string {
  // Cut first: a name may be a megabyte long.
  return place.slice(0, longestPlace).replace(/[^\x21-\x7e]|,/g, '?');
}
