import { excerpt } from '../../errors.ts';
import type { AssistantTurn, Call, Part, Raw, Result, Thought, Turn } from './asking.ts';
import { type Reading, refuse } from './reading.ts';

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
