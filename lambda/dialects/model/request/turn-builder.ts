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

/** Groups the items of a conversation into turns: consecutive output of the model is one turn, and each result is with its call. */
export function createTurnBuilder(reader: RequestReader) {
  const { json } = reader;
  const turns: Turn[] = [];
  const called = new Map<string, { readonly calls: ToolCall[]; answered: number }>();
  let current: AssistantTurn | undefined;
  const assistant = (): AssistantTurn => {
    if (current === undefined) {
      current = { role: 'assistant', content: [], reasoning: [] };
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
      assistant().content.push(said);
    },
    /** `ahead`: how many of the texts and calls that are added later come before it. */
    think(reasoningBlock: ReasoningBlock, ahead = 0): void {
      const { content, reasoning } = assistant();
      reasoning.push({ ...reasoningBlock, after: content.length + ahead });
    },
    call(id: Node, call: Omit<ToolCall, 'id'>): void {
      const made = { ...call, id: json.raw(id) };
      assistant().content.push(made);
      const name = json.string(id);
      const same = called.get(name);
      if (same === undefined) called.set(name, { calls: [made], answered: 0 });
      else same.calls.push(made);
    },
    /** Adds the result of the first call with this id that has none yet. */
    result(id: Node, result: ToolResult): void {
      current = undefined;
      // Some servers number the calls of each turn from the start again, so ids may repeat.
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
     * Returns the turns. Throws if a call has no result. `keeps` decides whether a turn's reasoning is kept, by the number of user
     * messages after it, and by its rank among the runs of the model with reasoning, the latest being 1. A run lasts until the next user
     * message, through all its tool calls.
     */
    finish(keeps: (userMessages: number, rank: number) => boolean): readonly Turn[] {
      for (const turn of turns) {
        if (turn.role !== 'assistant') continue;
        const unanswered = turn.content.filter(isCall).find(({ result }) => result === undefined);
        if (!unanswered) continue;
        refuse(reader, unanswered.at, 'is a call without its output. Send the output too, or leave the call out.');
      }
      let [userMessages, rank, counted] = [0, 0, -1];
      for (const turn of turns.toReversed()) {
        if (turn.role === 'user') userMessages += 1;
        if (turn.role !== 'assistant' || turn.reasoning.length === 0) continue;
        if (counted !== userMessages) rank += 1;
        counted = userMessages;
        if (!keeps(userMessages, rank)) turn.reasoning = [];
      }
      return turns;
    },
  };
}
