import { excerpt, longestPath } from '../errors.ts';
import { type Cooperative, nodesPerTurn } from '../json/cooperative.ts';
import type { Json, Node } from '../json/scan.ts';
import { recordProviderFields } from './envelope.ts';
import { type Findings, kindsOfTokens, type TokenCounts } from './findings.ts';
import { readOfUsage, type UsagePlaces } from './usage-places.ts';

/** Members that only the upstream can read: `signature`, `thought_signature`, `encrypted_content`, `reasoning_encrypted`. */
export const sealed =
  /^(thought|thinking|reasoning)?_?signature$|^encrypted_\w{1,100}$|^\w{1,100}_(encrypted|opaque)$/i;

/** How begins what this gateway itself seals for a client: with its version. */
export const sealMark = 'svc1.';

/** The types of objects whose `data` is such content: `redacted_thinking`, `reasoning.encrypted`. */
export const sealedType = /encrypted|redacted/;

/** `role`, `finish_reason`, `tool_call_id`, `created_at`; not `reason_text`. */
const labels =
  /^(name|role|author|recipient|channel|phase|status|object|voice)$|(^|_)(id|type|index|format|at|reason)$/;
/** `data`, `image_url`, `b64_json`. */
const bytes = /^(audio|image|data)$|(^|_)(url|b64|json)$/;

/** Members with longer names are no texts, or many texts could have long names. */
const longestName = 200;

/** Whether an unknown string may be a piece of text. Labels and bytes are none: they arrive whole. */
export function mayBeText(json: Json, name: string, value: Node): boolean {
  if (labels.test(name) || bytes.test(name) || name.length > longestName) return false;
  return !json.text.startsWith('"data:', json.start(value));
}

/** Leaves sealed members unchanged, at any depth of a value. */
export function keepSealed(json: Json, value: Node, found: Findings): void {
  const end = json.next(value);
  for (let node = value; node < end; node += 1) {
    if (json.isKey(node) && sealed.test(json.string(node))) found.keep(node + 1);
  }
}

/** Whether a value holds sealed content at any depth. */
export function* holdsSealed(json: Json, value: Node | undefined): Cooperative<boolean> {
  if (value === undefined) return false;
  const end = json.next(value);
  for (let node = value; node < end; node += 1) {
    if ((node - value) % nodesPerTurn === nodesPerTurn - 1) yield;
    if (!json.isKey(node)) continue;
    const [name, content] = [json.string(node), node + 1];
    if (sealed.test(name) && json.kind(content) !== 'null') return true;
    if (name === 'type' && json.kind(content) === 'string' && sealedType.test(json.string(content))) return true;
  }
  return false;
}

/** The elements of an array node; none if it is not an array. */
export function elements(json: Json, array: Node | undefined): Node[] {
  const nodes: Node[] = [];
  if (array === undefined || json.kind(array) !== 'array') return nodes;
  const end = json.next(array);
  for (let node = array + 1; node < end; node = json.next(node)) nodes.push(node);
  return nodes;
}

/** Calls back for each member of an object node; for none if it is not an object. */
export function eachMember(json: Json, object: Node | undefined, visit: (name: string, value: Node) => void): void {
  if (object === undefined || json.kind(object) !== 'object') return;
  const end = json.next(object);
  for (let key = object + 1; key < end; key = json.next(key + 1)) visit(json.string(key), key + 1);
}

/** The decoded text of a string member, or undefined. */
export function stringMember(json: Json, object: Node | undefined, name: string): string | undefined {
  const value = json.member(object, name);
  return value !== undefined && json.kind(value) === 'string' ? json.string(value) : undefined;
}

/** The value of a member that is a whole number, or undefined: one like 1e999 could not be written again. */
export function numberMember(json: Json, object: Node | undefined, name: string): number | undefined {
  const value = json.member(object, name);
  if (value === undefined || json.kind(value) !== 'number') return undefined;
  const number = Number(json.raw(value));
  return Number.isSafeInteger(number) ? number : undefined;
}

/** Records what the `usage` of an object counts, and returns it. */
export function recordUsage(json: Json, holder: Node, places: UsagePlaces, found: Findings): TokenCounts {
  const counts: Record<string, number> = {};
  const usage = presentMember(json, holder, 'usage');
  if (usage === undefined) return counts;
  recordProviderFields(json, usage, found);
  for (const kind of kindsOfTokens) {
    for (const [name, inner] of places[kind]) {
      const [object, member] = inner === undefined ? [usage, name] : [json.member(usage, name), inner];
      const count = numberMember(json, object, member);
      // An impossible one would spoil every sum.
      if (count === undefined || count < 0) continue;
      counts[kind] = count;
      found.tokens(kind, count, json.member(object, member));
      break;
    }
  }
  return counts;
}

/** What any dialect reads of an event that adds to a text. */
const readOfEvent = new Set([
  ...['id', 'type', 'index', 'sequence_number', 'output_index', 'content_index', 'summary_index'],
  ...['delta', 'logprobs', 'model'],
  ...['choices', 'usage', 'error', 'content_block', 'message', 'item', 'part', 'response'],
  ...['name', 'arguments', 'text', 'refusal', 'transcript'],
]);

/**
 * The strings and numbers of an event that no dialect looks at, whatever they are; a string in a member of a vendor's own may be a
 * machine.
 */
export function unreadIn(event: Json): Node[] {
  return [
    ...unreadMembers(event, event.root, readOfEvent),
    ...unreadMembers(event, event.member(event.root, 'usage'), readOfUsage),
  ];
}

function unreadMembers(json: Json, object: Node | undefined, read: ReadonlySet<string>): Node[] {
  const values: Node[] = [];
  eachMember(json, object, (name, value) => {
    if (read.has(name)) return;
    for (let node = value, end = json.next(value); node < end; node += 1) {
      const kind = json.isKey(node) ? undefined : json.kind(node);
      if (kind === 'number' || (kind === 'string' && node === value)) values.push(node);
    }
  });
  return values;
}

/** A member that is there and not null. */
export function presentMember(json: Json, object: Node | undefined, name: string): Node | undefined {
  const value = json.member(object, name);
  return value !== undefined && json.kind(value) !== 'null' ? value : undefined;
}

/**
 * An upstream's error message, in any of the forms that providers use: `{error: {message}}`,
 * `{error: "…"}`, `{message}`, `{errors: [{message}]}`, `{detail}`, `{detail: [{loc, msg}]}`, or one of these in a list.
 */
export function readErrorMessage(json: Json): string | undefined {
  const body = elements(json, json.root)[0] ?? json.root;
  const first = (name: string) => elements(json, presentMember(json, body, name))[0];
  return (
    stringMember(json, presentMember(json, body, 'error'), 'message') ??
    stringMember(json, body, 'error') ??
    stringMember(json, body, 'message') ??
    stringMember(json, first('errors'), 'message') ??
    stringMember(json, body, 'detail') ??
    readDetail(json, first('detail'))
  );
}

/** A validator's fault: what is wrong, after the place in the body if that is named. */
function readDetail(json: Json, detail: Node | undefined): string | undefined {
  const message = stringMember(json, detail, 'msg');
  const steps = elements(json, presentMember(json, detail, 'loc')).map((step) =>
    json.kind(step) === 'string' ? `.${json.string(step)}` : `[${json.raw(step)}]`,
  );
  const place = steps
    .join('')
    .replace(/^\.body(?=[.[]|$)/, '')
    .replace(/^\./, '');
  return message !== undefined && place !== '' ? `${excerpt(place, longestPath)}: ${message}` : message;
}
