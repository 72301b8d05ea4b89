import { stringMember } from '../../dialects/answer.ts';
import { describe, pathTo } from '../../dialects/body.ts';
import { excerpt, GatewayError, longestPath } from '../../errors.ts';
import { charactersPerSlice, nodesPerTurn } from '../../json/cooperative.ts';
import type { Json, Kind, Node } from '../../json/scan.ts';
import type { AssistantTurn, Call, Part, Raw, Result, Thought, Turn } from './asking.ts';

/**
 * What becomes of each member of one kind of object: `map` (it is translated), `ignore` (it can't change the answer), `leave`
 * (no other dialect has a place for it), or the end of the sentence that refuses it.
 */
export type Fields = Readonly<Record<string, string>>;

/** One request while it is read. */
export interface Reading {
  readonly json: Json;
  /** Opens what was sealed for this caller; undefined for anything else. */
  readonly open: (text: string) => string | undefined;
  readonly leftOut: Node[];
  readonly unread: Node[];
  /** The names of tools that a client's own search has found, in the order in which it did. */
  readonly found: Set<string>;
  /** Where the reading paused last, so that others got their turn. */
  pausedAt: Node;
  /** What has been opened since, in characters: that takes far longer than reading. */
  opened: number;
}

/** What a seal costs besides its characters. */
const costOfSeal = 4_096;

export function beginReading(json: Json, open: Reading['open']): Reading {
  const reading: Reading = {
    ...{ json, leftOut: [], unread: [], found: new Set(), pausedAt: 0, opened: 0 },
    open(text) {
      reading.opened += text.length + costOfSeal;
      return open(text);
    },
  };
  return reading;
}

/** Whether so much was read since the last pause that one is due here. Members are not read in the order of the body. */
export function isPauseDue(reading: Reading, at: Node): boolean {
  if (Math.abs(at - reading.pausedAt) < nodesPerTurn && reading.opened < charactersPerSlice) return false;
  reading.pausedAt = at;
  reading.opened = 0;
  return true;
}

type Mapped<F extends Fields> = { readonly [Name in keyof F]?: Node };

/** The members of an object that are translated. The others are refused, ignored or noted as unread; null counts as absent. */
export function takeMembers<const F extends Fields>(reading: Reading, object: Node, fields: F): Mapped<F> {
  const { json, leftOut, unread } = reading;
  requireKind(reading, object, 'object');
  const taken: Record<string, Node> = {};
  const end = json.next(object);
  for (let key = object + 1; key < end; key = json.next(key + 1)) {
    const value = key + 1;
    const name = json.string(key);
    const fate = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (fate === 'ignore') continue;
    // The last of repeated members counts, even if it is null.
    if (fate === 'map') delete taken[name];
    if (json.kind(value) === 'null') continue;
    if (fate === undefined) unread.push(value);
    else if (fate === 'leave') leftOut.push(value);
    else if (fate === 'map') taken[name] = value;
    else refuse(reading, value, `is not supported with this model: ${fate}`);
  }
  return taken as Mapped<F>;
}

/** A refusal of the request that names a place in it: `what` goes on after the place. */
export function refuse({ json }: Pick<Reading, 'json'>, at: Node, what: string): never {
  throw new GatewayError('invalid_request', `${placeOf(json, at)} ${what}`);
}

/** A place in a body as a sentence quotes it. */
export function placeOf(json: Json, at: Node): string {
  return excerpt(pathTo(json, at), longestPath) || 'The body';
}

export function requireKind(reading: Reading, value: Node, ...kinds: readonly Kind[]): void {
  const kind = reading.json.kind(value);
  if (kinds.includes(kind)) return;
  refuse(reading, value, `must be ${kinds.map(describe).join(' or ')}, not ${describe(kind)}.`);
}

/** A string as it is written, with its quotes. */
export function takeString(reading: Reading, value: Node): string {
  requireKind(reading, value, 'string');
  return reading.json.raw(value);
}

/** A string's text, if there is one. */
export function textOf(reading: Reading, value: Node): string;
export function textOf(reading: Reading, value: Node | undefined): string | undefined;
export function textOf(reading: Reading, value: Node | undefined): string | undefined {
  if (value === undefined) return undefined;
  requireKind(reading, value, 'string');
  return reading.json.string(value);
}

/** A required member of an object. */
export function required(reading: Reading, object: Node, name: string, value: Node | undefined): Node {
  return value ?? refuse(reading, object, `has no ${name}. Add it.`);
}

export function rawOf({ json }: Reading, value: Node | undefined): string | undefined {
  return value === undefined ? undefined : json.raw(value);
}

/** The type of an item, part or tool. */
export function typeOf(reading: Reading, object: Node): string {
  requireKind(reading, object, 'object');
  return stringMember(reading.json, object, 'type') ?? '';
}

const longestType = 60;

/** Refuses something of a type: `what` goes on after the place and the type. */
export function refuseType(reading: Reading, object: Node, what: string): never {
  const type = typeOf(reading, object);
  refuse(reading, object, type === '' ? `(without a type) ${what}` : `(${excerpt(type, longestType)}) ${what}`);
}

/** Refuses something whose type nobody here knows: it carries content or a promise. */
export function refuseUnknown(reading: Reading, object: Node, remedy = 'Leave it out.'): never {
  refuseType(reading, object, `is of a kind that this model can't take. ${remedy}`);
}

/** Puts the items of a conversation together: all that the model did in one go is one turn, and each result is with its call. */
export interface Turns {
  system(texts: readonly Raw[]): void;
  user(parts: readonly Part[]): void;
  say(said: AssistantTurn['said'][number]): void;
  think(thought: Thought): void;
  call(call: Omit<Call, 'result'>, id: string): void;
  /** What the latest call with this id gave that has no result yet. */
  result(result: Result, id: string): void;
  /** The turns, once each call has its result. */
  finish(): readonly Turn[];
}

const longestId = 60;

export function createTurns(reading: Reading): Turns {
  const turns: Turn[] = [];
  const called = new Map<string, { readonly calls: Call[]; answered: number }>();
  let current: AssistantTurn | undefined;
  const assistant = (): AssistantTurn => {
    if (current === undefined) {
      current = { role: 'assistant', said: [], thoughts: [], calls: [] };
      turns.push(current);
    }
    return current;
  };
  const add = (turn: Turn) => {
    current = undefined;
    turns.push(turn);
  };
  return {
    system: (texts) => add({ role: 'system', texts }),
    user: (parts) => add({ role: 'user', parts }),
    say: (said) => assistant().said.push(said),
    think: (thought) => assistant().thoughts.push(thought),
    call(call, id) {
      const made: Call = { ...call, result: undefined };
      assistant().calls.push(made);
      const same = called.get(id);
      if (same === undefined) called.set(id, { calls: [made], answered: 0 });
      else same.calls.push(made);
    },
    result(result, id) {
      current = undefined;
      // Some servers number the calls of each turn anew: the first that waits is meant.
      const same = called.get(id);
      const call = same?.calls[same.answered];
      if (same === undefined || call === undefined) {
        const what = `answers ${excerpt(id, longestId)}, which no call before it waits for.`;
        refuse(reading, result.at, `${what} Send the full history.`);
      }
      same.answered += 1;
      call.result = result;
    },
    finish() {
      for (const turn of turns) {
        const unanswered = turn.role === 'assistant' && turn.calls.find(({ result }) => result === undefined);
        if (!unanswered) continue;
        refuse(reading, unanswered.at, 'is a call without its output. Send the output too, or leave the call out.');
      }
      return turns;
    },
  };
}
