import type { RequestFile } from '../budget/estimate.ts';
import { GatewayError } from '../errors.ts';
import { type Cooperative, nodesPerTurn } from '../json/cooperative.ts';
import type { Json, Node } from '../json/scan.ts';
import { numberMember, presentMember, stringMember } from './answer.ts';
import type { ExpectedAnswer } from './dialect.ts';
import type { Recorder } from './findings.ts';

/** Fields that decide, in one dialect or another, what a request is and what it costs. */
const decisive = ['model', 'messages', 'input', 'stream', 'thinking'];
const inAnyCase = decisive.map((name) => ({ name, pattern: new RegExp(`^${name}$`, 'iu') }));

/** Refuses fields such as `Model`: some upstreams take it for `model`, and would see another value than the one checked. */
export function refuseOtherCase(body: Json): void {
  for (const key of body.keys(body.root)) {
    const name = body.string(key);
    const meant = inAnyCase.find(({ pattern }) => pattern.test(name));
    if (meant === undefined || meant.name === name) continue;
    throw new GatewayError('invalid_request', `${name} is not a field: case matters. Write ${meant.name}.`);
  }
}

/** Refuses a body whose `name` is missing or not an array. */
export function requireArray(body: Json, name: string): void {
  const value = body.member(body.root, name);
  if (value === undefined) {
    // Some agents send bodies of the responses dialect to any endpoint.
    const other = body.member(body.root, 'input') === undefined ? '' : ', or a body with input to /v1/responses';
    throw new GatewayError('invalid_request', `${name} is missing: send it as an array${other}.`);
  }
  if (body.kind(value) !== 'array') {
    throw new GatewayError('invalid_request', `${name} must be an array, not ${describe(body.kind(value))}.`);
  }
}

/** Refuses a member that asks for stored state; the history belongs into another. */
export function refuseState(name: string, history: string, details?: Readonly<Record<string, string>>): never {
  const message = `${name} is not supported: nothing is stored between requests. Send the full history in ${history}.`;
  throw new GatewayError('invalid_request', message, { details });
}

/** Each repeated member costs an edit of the body. Only an attacker sends so many. */
const mostRepeats = 1_000;

/** Refuses an object that repeats members which the gateway reads or changes too often. */
export function refuseRepeats(repeats: number, what: string): void {
  if (repeats <= mostRepeats) return;
  throw new GatewayError('invalid_request', `${what} repeats a member more than ${mostRepeats} times: send each once.`);
}

/** "a string", "an object", "null" … */
export function describe(kind: ReturnType<Json['kind']>): string {
  if (kind === 'null') return kind;
  return /^[aeiou]/.test(kind) ? `an ${kind}` : `a ${kind}`;
}

/** Reads what a body asks for, under the names that its dialect uses. */
export function readExpectedAnswer(
  body: Json,
  names: { readonly choices?: string; readonly stops?: string },
): ExpectedAnswer {
  const stops = names.stops ? presentMember(body, body.root, names.stops) : undefined;
  return {
    choices: (names.choices && numberMember(body, body.root, names.choices)) || 1,
    stops: new Set(stops === undefined ? [] : readStops(body, stops)),
  };
}

// No upstream takes more or longer ones, and they are kept in memory until the answer is over.
const [mostStops, longestStop] = [64, 1_000];

function* readStops(body: Json, stops: Node): Generator<string> {
  let read = 0;
  for (const stop of body.kind(stops) === 'string' ? [stops] : body.elements(stops)) {
    if (++read > mostStops) return;
    const isShort = body.end(stop) - body.start(stop) <= longestStop;
    // A copy, because a slice would keep the whole body in memory.
    if (isShort && body.kind(stop) === 'string') yield JSON.parse(body.raw(stop));
  }
}

/** Leaves the text at which the model stopped unchanged if the caller asked for that stop. */
export function keepStop(
  json: Json,
  holder: Node | undefined,
  name: string,
  { stops }: ExpectedAnswer,
  record: Recorder,
): void {
  const stop = stops.size > 0 ? presentMember(json, holder, name) : undefined;
  if (stop !== undefined && json.kind(stop) === 'string' && stops.has(json.string(stop))) record.keep(stop);
}

/** How many messages and parts of one are read. Conversations that begin with the same thousand are taken for one. */
const mostRead = 1_000;

/**
 * The texts of a `content`: itself, or those of its parts. Not the rest, because cache marks beside them move from turn to turn.
 */
export function textsOf(body: Json, content: Node | undefined): Node[] {
  if (content !== undefined && body.kind(content) === 'string') return [content];
  const texts: Node[] = [];
  for (const part of firstOf(body, content)) {
    const text = body.member(part, 'text');
    if (text !== undefined && body.kind(text) === 'string') texts.push(text);
  }
  return texts;
}

/** The texts of the instructions before the first user message, and of that message. */
export function conversationStart(body: Json, messages: Node | undefined): Node[] {
  const texts: Node[] = [];
  for (const message of firstOf(body, messages)) {
    const role = stringMember(body, message, 'role');
    if (role === 'system' || role === 'developer' || role === 'user') {
      for (const text of textsOf(body, body.member(message, 'content'))) texts.push(text);
    }
    if (role === 'user') break;
  }
  return texts;
}

function* firstOf(body: Json, array: Node | undefined): Generator<Node> {
  let left = mostRead;
  if (array === undefined) return;
  for (const element of body.elements(array)) {
    if (left-- === 0) return;
    yield element;
  }
}

/** What counts as image or video content under a top-level member, and which members may lead to it. */
export interface VisionRule {
  readonly types: readonly string[];
  /** Members whose mere presence in a content part makes it vision content. */
  readonly members: readonly string[];
  /** Members that show what a file contains: its media type, or a data URL that begins with it. */
  readonly files: readonly string[];
  readonly within: Within;
}

/** Members that may hold further content; others (schemas, arguments, texts) are not searched. */
type Within = readonly string[] | 'all';

/**
 * Walks the top-level members that have a rule in document order, which needs no stack however deep they are nested. Returns the
 * first node that is found.
 */
export function* searchIn<Rule extends { readonly within: Within }>(
  body: Json,
  rules: ReadonlyMap<string, Rule>,
  isFound: (node: Node, rule: Rule) => boolean,
): Cooperative<Node | undefined> {
  let seen = 0;
  for (const root of body.keys(body.root)) {
    const rule = rules.get(body.string(root));
    const end = body.next(root + 1);
    for (let node = root + 1; rule !== undefined && node < end; ) {
      if (++seen % nodesPerTurn === 0) yield;
      if (isFound(node, rule)) return node;
      const isSearched = !body.isKey(node) || rule.within === 'all' || rule.within.includes(body.string(node));
      node = isSearched ? node + 1 : body.next(node + 1);
    }
  }
  return undefined;
}

/**
 * The first image or video in a top-level member that has a rule, as a path such as `messages[2].content[0]`.
 * Every `type` of an object counts, even a repeated one, so that no parser finds content that this search overlooks.
 */
export function* findVisionContent(
  body: Json,
  rules: ReadonlyMap<string, VisionRule>,
): Cooperative<string | undefined> {
  const found = yield* searchIn(body, rules, (node, rule) => isVision(body, node, rule));
  return found === undefined ? undefined : pathTo(body, found);
}

function isVision(body: Json, node: Node, { types, members, files }: VisionRule): boolean {
  if (!body.isKey(node)) return false;
  const name = body.string(node);
  const kind = body.kind(node + 1);
  if (members.includes(name) && kind !== 'null') return true;
  if (kind !== 'string') return false;
  if (name === 'type') return types.includes(body.string(node + 1));
  return files.includes(name) && picture.test(body.string(node + 1));
}

/** `image/png`, `data:video/mp4;base64,…`. */
const picture = /^(data:)?(image|video)\//i;

/** The path of a value, such as `messages[2].content[0]`; for a key, that of the object that holds it. */
export function pathTo(body: Json, target: Node): string {
  let path = '';
  let node = body.root;
  for (;;) {
    const isObject = body.kind(node) === 'object';
    let inside: Node | undefined;
    let step = '';
    let index = 0;
    for (let child = node + 1, end = body.next(node); child < end; index += 1) {
      const value = isObject ? child + 1 : child;
      if (target >= value && target < body.next(value)) {
        inside = value;
        step = isObject ? `${path && '.'}${body.string(child)}` : `[${index}]`;
        break;
      }
      child = body.next(value);
    }
    if (inside === undefined) return path;
    path += step;
    node = inside;
  }
}

/** Reads the file that a part is; undefined if it is none after all. */
type ReadFile = (body: Json, part: Node) => RequestFile | undefined;

/** Calls back for each file in these top-level members, by what reads a part of its type. */
export function* findFilesIn(
  body: Json,
  roots: ReadonlyMap<string, Pick<VisionRule, 'within'>>,
  readers: ReadonlyMap<string, ReadFile>,
  visit: (file: RequestFile) => void,
): Cooperative<void> {
  const visitFile = (node: Node): boolean => {
    const type = body.isKey(node) ? undefined : stringMember(body, node, 'type');
    const file = type === undefined ? undefined : readers.get(type)?.(body, node);
    if (file !== undefined) visit(file);
    return false;
  };
  yield* searchIn(body, roots, visitFile);
}

/** Reads an image at a path of members, or on the way there: some upstreams take `"image_url": "…"` for `{"url": "…"}`. */
export const imageAt =
  (...path: readonly string[]): ReadFile =>
  (body, part) => ({ isImage: true, data: stringAt(body, part, path) });

/** The same for any other file. */
export const fileAt =
  (...path: readonly string[]): ReadFile =>
  (body, part) => ({ isImage: false, data: stringAt(body, part, path) });

function stringAt(body: Json, part: Node, path: readonly string[]): Node | undefined {
  let node: Node | undefined = part;
  for (const name of path) {
    node = body.member(node, name);
    if (node === undefined || body.kind(node) === 'string') return node;
  }
  return undefined;
}
