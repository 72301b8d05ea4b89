import { excerpt } from '../../errors.ts';
import type { Node } from '../../json/scan.ts';
import type { AssistantTurn, Call, Thought, Turn } from './asking.ts';
import type { Part, TextPart } from './parts.ts';
import type { Reading } from './reading.ts';

const longestId = 60;

export type Turns = ReturnType<typeof createTurns>;

/** Puts the items of a conversation together: all that the model did in one go is one turn, and each result is with its call. */
export function createTurns(reading: Reading) {
  const turns: Turn[] = [];
  const called = new Map<string, { readonly calls: Call[]; answered: number }>();
  let current: AssistantTurn | undefined;
  const assistant = (): AssistantTurn => {
    if (current === undefined) {
      current = { role: 'assistant', texts: [], refusals: [], thoughts: [], calls: [] };
      turns.push(current);
    }
    return current;
  };
  return {
    add(role: 'system' | 'user', parts: readonly Part[]): void {
      current = undefined;
      turns.push({ role, parts });
    },
    say: (text: TextPart) => assistant().texts.push(text),
    decline: (refusal: string) => assistant().refusals.push(refusal),
    think: (thought: Thought) => assistant().thoughts.push(thought),
    call(call: Call, id: string): void {
      assistant().calls.push(call);
      const same = called.get(id);
      if (same === undefined) called.set(id, { calls: [call], answered: 0 });
      else same.calls.push(call);
    },
    /** What a call with this id gave. Some servers number the calls of each turn anew: the first that waits is meant. */
    result(at: Node, parts: readonly Part[], id: string): void {
      current = undefined;
      const same = called.get(id);
      const call = same?.calls[same.answered];
      if (same === undefined || call === undefined) {
        const what = `answers ${excerpt(id, longestId)}, which no call before it waits for.`;
        reading.refuse(at, `${what} Send the full history.`);
      }
      same.answered += 1;
      call.result = parts;
    },
    /** The turns, once each call has its result. */
    finish(): readonly Turn[] {
      for (const turn of turns) {
        const unanswered = turn.role === 'assistant' && turn.calls.find(({ result }) => result === undefined);
        if (!unanswered) continue;
        reading.refuse(unanswered.at, 'is a call without its output. Send the output too, or leave the call out.');
      }
      return turns;
    },
  };
}
