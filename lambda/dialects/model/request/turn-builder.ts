import { excerpt } from '../../../json/quoting.ts';
import type { Node } from '../../../json/scan.ts';
import {
  type AssistantTurn,
  isCall,
  type Part,
  type ReasoningBlock,
  type Said,
  type TextPart,
  type ToolCall,
  type ToolResult,
  type Turn,
} from './model-request.ts';
import { refuse } from './refuse-item.ts';
import type { RequestReader } from './request-reader.ts';

const longestId = 60;

export type TurnBuilder = ReturnType<typeof createTurnBuilder>;

/** Puts the items of a conversation together: all that the model did in one go is one turn, and each result is with its call. */
export function createTurnBuilder(reader: RequestReader) {
  const { json } = reader;
  const turns: Turn[] = [];
  const called = new Map<string, { readonly calls: ToolCall[]; answered: number }>();
  let current: AssistantTurn | undefined;
  const assistant = (): AssistantTurn => {
    if (current === undefined) {
      current = { role: 'assistant', done: [], reasoning: [] };
      turns.push(current);
    }
    return current;
  };
  const add = (turn: Turn) => {
    current = undefined;
    turns.push(turn);
  };
  return {
    system: (parts: readonly TextPart[]): void => add({ role: 'system', parts }),
    user: (parts: readonly Part[]): void => add({ role: 'user', parts }),
    say(said: Said): void {
      assistant().done.push(said);
    },
    /** `ahead`: how much it said and called before, of what is told later. */
    think(reasoningBlock: ReasoningBlock, ahead = 0): void {
      const { done, reasoning } = assistant();
      reasoning.push({ ...reasoningBlock, after: done.length + ahead });
    },
    /** `id`: where it stands. */
    call(id: Node, call: Omit<ToolCall, 'id'>): void {
      const made = { ...call, id: json.raw(id) };
      assistant().done.push(made);
      const name = json.string(id);
      const same = called.get(name);
      if (same === undefined) called.set(name, { calls: [made], answered: 0 });
      else same.calls.push(made);
    },
    /** What the latest call with this id gave that has no result yet. */
    result(id: Node, result: ToolResult): void {
      current = undefined;
      // Some servers number the calls of each turn anew: the first that waits is meant.
      const name = json.string(id);
      const same = called.get(name);
      const call = same?.calls[same.answered];
      if (same === undefined || call === undefined) {
        const what = `answers ${excerpt(name, longestId)}, which no call before it waits for.`;
        refuse(reader, result.at, `${what} Send the full history.`);
      }
      same.answered += 1;
      call.result = result;
    },
    /**
     * The turns, once each call has its result. `keeps` says whether thoughts stay, by how often the user has spoken since, and how
     * many times the model has thought since, these included: it goes on through its calls, until the user says something.
     */
    finish(keeps: (spoken: number, reasoningBlock: number) => boolean): readonly Turn[] {
      for (const turn of turns) {
        if (turn.role !== 'assistant') continue;
        const unanswered = turn.done.filter(isCall).find(({ result }) => result === undefined);
        if (!unanswered) continue;
        refuse(reader, unanswered.at, 'is a call without its output. Send the output too, or leave the call out.');
      }
      let [spoken, reasoningBlock, counted] = [0, 0, -1];
      for (const turn of turns.toReversed()) {
        if (turn.role === 'user') spoken += 1;
        if (turn.role !== 'assistant' || turn.reasoning.length === 0) continue;
        if (counted !== spoken) reasoningBlock += 1;
        counted = spoken;
        if (!keeps(spoken, reasoningBlock)) turn.reasoning = [];
      }
      return turns;
    },
  };
}
