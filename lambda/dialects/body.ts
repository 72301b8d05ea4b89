import { GatewayError } from '../errors.ts';
import type { Cooperative } from '../json/cooperative.ts';
import { earlierDuplicates } from '../json/edit.ts';
import type { Json, Node } from '../json/scan.ts';
import { holdsSealed, numberMember, presentMember, stringMember } from './answer.ts';
import { type ContentPlaces, searchContentOf } from './content.ts';
import type { ExpectedAnswer } from './dialect.ts';
import type { Findings } from './findings.ts';

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

/** Fields by which routers choose another model than `model` says. */
const routing = /^(models|fallbacks|route)$/iu;

/** Refuses fields that would lead a caller whose models or money are limited to other models. */
export function refuseRouting(body: Json): void {
  for (const key of body.keys(body.root)) {
    const name = body.string(key);
    if (!routing.test(name) || body.kind(key + 1) === 'null') continue;
    throw new GatewayError('invalid_request', `${name} can't be used with this key. Leave it out, and send one model.`);
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

/** The keys of a member of `object`, the top-level member of the name `within`, except the last, which counts. */
export function repeatsOf(body: Json, object: Node, within: string, name: string): Set<Node> {
  const repeats = earlierDuplicates(body, object, new Set([name]));
  if (repeats.size <= mostRepeats) return repeats;
  const message = `${within} repeats a member more than ${mostRepeats} times: send each once.`;
  throw new GatewayError('invalid_request', message);
}

/** "a string", "an object", "null" … */
export function describe(kind: ReturnType<Json['kind']>): string {
  if (kind === 'null') return kind;
  return /^[aeiou]/.test(kind) ? `an ${kind}` : `a ${kind}`;
}

/** Where a dialect's bodies hold what the gateway reads of them. */
interface BodyPlaces extends ContentPlaces {
  /** The messages or items of the conversation, and the instructions that stand apart from them. */
  readonly history: 'messages' | 'input';
  readonly instructions?: 'system' | 'instructions';
  readonly choices?: 'n';
  readonly stops?: 'stop' | 'stop_sequences';
}

/** What is read of bodies alike in all dialects. */
export function readBodies({ history, instructions, choices, stops, ...places }: BodyPlaces) {
  return {
    ...searchContentOf(places),
    isAccountBound: (body: Json): Cooperative<boolean> => holdsSealed(body, body.member(body.root, history)),
    findConversationStart: (body: Json): readonly Node[] => {
      const left = { parts: mostRead };
      const apart = instructions === undefined ? undefined : body.member(body.root, instructions);
      return [...textsOf(body, apart, left), ...conversationStart(body, body.member(body.root, history), left)];
    },
    readExpectedAnswer: (body: Json): ExpectedAnswer => ({
      choices: (choices && numberMember(body, body.root, choices)) || 1,
      stops: new Set(stops && readStops(body, presentMember(body, body.root, stops))),
    }),
  };
}

// No upstream takes more or longer ones, and they are kept in memory until the answer is over.
const [mostStops, longestStop] = [64, 1_000];

function* readStops(body: Json, stops: Node | undefined): Generator<string> {
  if (stops === undefined) return;
  let read = 0;
  for (const stop of body.kind(stops) === 'string' ? [stops] : body.elements(stops)) {
    if (++read > mostStops) return;
    const isShort = body.end(stop) - body.start(stop) <= longestStop;
    // A copy, because a slice would keep the whole body in memory.
    if (isShort && body.kind(stop) === 'string') yield JSON.parse(body.raw(stop));
  }
}

/** How many messages and parts are read. Conversations that begin with the same thousand are taken for one. */
const mostRead = 1_000;

/** How many of them may still be read. */
interface Left {
  parts: number;
}

/**
 * The texts of a `content`: itself, or those of its parts. Not the rest, because cache marks beside them move from turn to turn.
 */
function textsOf(body: Json, content: Node | undefined, left: Left): Node[] {
  if (content !== undefined && body.kind(content) === 'string') return [content];
  const texts: Node[] = [];
  for (const part of firstOf(body, content, left)) {
    const text = body.member(part, 'text');
    if (text !== undefined && body.kind(text) === 'string') texts.push(text);
  }
  return texts;
}

/** A text itself, or the texts of the instructions before the first user message, and of that message; it may lack a type. */
function conversationStart(body: Json, history: Node | undefined, left: Left): Node[] {
  if (history !== undefined && body.kind(history) === 'string') return [history];
  const texts: Node[] = [];
  for (const message of firstOf(body, history, left)) {
    const role = stringMember(body, message, 'role');
    if (role === 'system' || role === 'developer' || role === 'user') {
      for (const text of textsOf(body, body.member(message, 'content'), left)) texts.push(text);
    }
    if (role === 'user') break;
  }
  return texts;
}

function* firstOf(body: Json, array: Node | undefined, left: Left): Generator<Node> {
  if (array === undefined) return;
  for (const element of body.elements(array)) {
    if (left.parts === 0) return;
    left.parts -= 1;
    yield element;
  }
}

/** Leaves the text at which the model stopped unchanged if the caller asked for that stop. */
export function keepStop(
  json: Json,
  holder: Node | undefined,
  name: string,
  { stops }: ExpectedAnswer,
  found: Findings,
): void {
  const stop = stops.size > 0 ? presentMember(json, holder, name) : undefined;
  if (stop !== undefined && json.kind(stop) === 'string' && stops.has(json.string(stop))) found.keep(stop);
}
