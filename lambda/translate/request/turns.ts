import { excerpt } from '../../errors.ts';
import type { AssistantTurn, Call, Part, Raw, Result, Thought, Turn } from './asking.ts';
import { type Reading, refuse } from './reading.ts';

const longestId = 60;

export type Turns = ReturnType<typeof createTurns>;

/** Puts the items of a conversation together: all that the model did in one go is one turn, and each result is with its call. */
export function createTurns(reading: Reading) {
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
    system: (texts: readonly Raw[]): void => add({ role: 'system', texts }),
    user: (parts: readonly Part[]): void => add({ role: 'user', parts }),
    say(said: AssistantTurn['said'][number]): void {
      assistant().said.push(said);
    },
    think(thought: Thought): void {
      assistant().thoughts.push(thought);
    },
    call(call: Omit<Call, 'result'>, id: string): void {
      const made: Call = { ...call, result: undefined };
      assistant().calls.push(made);
      const same = called.get(id);
      if (same === undefined) called.set(id, { calls: [made], answered: 0 });
      else same.calls.push(made);
    },
    /** What the latest call with this id gave that has no result yet. */
    result(result: Result, id: string): void {
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
    /** The turns, once each call has its result. */
    finish(): readonly Turn[] {
      for (const turn of turns) {
        const unanswered = turn.role === 'assistant' && turn.calls.find(({ result }) => result === undefined);
        if (!unanswered) continue;
        refuse(reading, unanswered.at, 'is a call without its output. Send the output too, or leave the call out.');
      }
      return turns;
    },
  };
}
