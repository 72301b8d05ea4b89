import { numberMember, presentMember, stringMember } from '../../json/read.ts';
import type { Json, Node } from '../../json/scan.ts';
import { type ContentPlaces, searchContentOf } from './content.ts';
import type { ExpectedAnswer } from './expected-answer.ts';
import { holdsSealed } from './sealed.ts';

/** Where a dialect's bodies hold what the gateway reads. */
interface BodyPlaces extends ContentPlaces {
  /** The messages or items of the conversation. */
  readonly history: 'messages' | 'input';
  /** Instructions outside the history. */
  readonly instructions?: 'system' | 'instructions';
  readonly choices?: 'n';
  readonly stops?: 'stop' | 'stop_sequences';
}

/** The parts of a `Dialect` that read bodies in the same way for all dialects. */
export function readBodies({ history, instructions, choices, stops, ...places }: BodyPlaces) {
  return {
    ...searchContentOf(places),
    isAccountBound: (body: Json): boolean => holdsSealed(body, body.member(body.root, history)),
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

// No upstream accepts more or longer ones, and they stay in memory until the answer is complete.
const [mostStops, longestStop] = [64, 1_000];

function* readStops(body: Json, stops: Node | undefined): Generator<string> {
  if (stops === undefined) return;
  let read = 0;
  for (const stop of body.kind(stops) === 'string' ? [stops] : body.elements(stops)) {
    if (++read > mostStops) return;
    const isShort = body.end(stop) - body.start(stop) <= longestStop;
    // A copy, because a slice would retain the whole body.
    if (isShort && body.kind(stop) === 'string') yield JSON.parse(body.raw(stop));
  }
}

/** How many messages and parts are read. Conversations that begin with the same thousand count as one. */
const mostRead = 1_000;

/** How many more messages and parts may be read. */
interface Left {
  parts: number;
}

/** The texts of a `content`: itself, or those of its parts. Nothing else, because cache marks move from turn to turn. */
function textsOf(body: Json, content: Node | undefined, left: Left): Node[] {
  if (content !== undefined && body.kind(content) === 'string') return [content];
  const texts: Node[] = [];
  for (const part of firstOf(body, content, left)) {
    const text = body.member(part, 'text');
    if (text !== undefined && body.kind(text) === 'string') texts.push(text);
  }
  return texts;
}

/** The texts of the history up to the first user message. A history can also be one text, and messages may lack a type. */
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
