import type { Piece } from '../../bodies.ts';
import type { Call, Finish, Literal, TextKind } from './facts.ts';
import { type CallItem, createCallItem, createTextItem, type ItemStatus, type TextItem } from './responses-items.ts';
import { type AnswerWriter, countTokens, createCallIds, createEvents, type Events, type Writing } from './writer.ts';

/** Writes OpenAI responses. */
export function createResponsesWriter(writing: Writing): AnswerWriter {
  const events = createEvents({ live: writing.live, numbered: true });
  const items = createOutput(writing, events);
  const id = `resp_${writing.newHex()}`;
  const createdAt = Math.floor(writing.now() / 1000);

  function responseOf(status: string, { completedAt = 'null', incomplete = 'null', usage = 'null' } = {}): Piece[] {
    return [
      `{"id":"${id}","object":"response","created_at":${createdAt},"completed_at":${completedAt},"status":"${status}",`,
      `"error":null,"incomplete_details":${incomplete},"model":${JSON.stringify(writing.model)},`,
      `"output":[${items.output.join(',')}],`,
      ...writing.echo,
      `,"usage":${usage}}`,
    ];
  }

  return {
    events,
    begin() {
      const response = responseOf('in_progress');
      events.write('response.created', '"response":', ...response);
      events.write('response.in_progress', '"response":', ...response);
    },
    told: items.addText,
    called: items.addCall,
    argued: items.addArguments,
    finished(finish) {
      items.closeAll(finish);
      const usage = usageOf(writing);
      const reason = incompleteBy[finish];
      const completedAt = `${Math.floor(writing.now() / 1000)}`;
      const status = reason === undefined ? 'completed' : 'incomplete';
      const how = reason === undefined ? { completedAt } : { incomplete: `{"reason":"${reason}"}` };
      const response = responseOf(status, { ...how, usage });
      events.write(`response.${status}`, '"response":', ...response);
      return response;
    },
  };
}

/** The items of a response. One text is open at a time; beside it, any number of calls. */
function createOutput(writing: Writing, events: Events) {
  const { live, tools, newHex } = writing;
  const callIdOf = createCallIds('call_', newHex);
  const output: string[] = [];
  const calls = new Map<Call, CallItem>();
  let begun = 0;
  let open: TextItem | undefined;

  const placeOf = (prefix: string) => ({ index: begun++, id: `${prefix}_${newHex()}` });

  function closeText(status: ItemStatus = 'completed'): void {
    if (open) output[open.index] = open.close(status);
    open = undefined;
  }

  /** Closes the calls to which most likely nothing will be added. */
  function closeCalls(isThrough = (call: Call): boolean => call.arguments.isClosed): void {
    for (const [call, item] of calls) {
      if (!isThrough(call)) continue;
      output[item.index] = item.close('completed');
      calls.delete(call);
    }
  }

  return {
    /** Those that are closed, as JSON. */
    output,
    /** Adds to the open text if that is of this kind; otherwise closes whatever else is open, and begins one. */
    addText(kind: TextKind, text: Literal, logprobs?: string): void {
      const type = kind === 'thought' ? 'reasoning' : 'message';
      if (open?.type !== type) {
        closeText();
        closeCalls();
        const sealing = type === 'reasoning' && writing.thoughts.sealed ? writing : undefined;
        open = createTextItem(events, placeOf(type === 'reasoning' ? 'rs' : 'msg'), type, sealing);
      }
      open.add(kind, text, logprobs);
    },
    addCall(call: Call): void {
      closeText();
      closeCalls();
      const tool = tools.find(call.name);
      const place = placeOf({ function: 'fc', custom: 'ctc', tool_search: 'tsc' }[tool.kind]);
      calls.set(call, createCallItem(events, place, { call, callId: callIdOf(call), tool, live }));
    },
    // What comes after the end of a call's arguments is no part of them.
    addArguments: (call: Call, text: Literal): void => calls.get(call)?.add(text),
    closeAll(finish: Finish): void {
      closeText(finish === 'done' ? 'completed' : 'incomplete');
      closeCalls((call) => finish === 'done' || call.arguments.isClosed);
      for (const item of calls.values()) output[item.index] = item.abandon();
    },
  };
}

const incompleteBy: Readonly<Record<Finish, string | undefined>> = {
  done: undefined,
  length: 'max_output_tokens',
  filtered: 'content_filter',
};

function usageOf({ usage }: Writing): string {
  const { input, read, written, output, reasoning } = countTokens(usage);
  return JSON.stringify({
    input_tokens: input,
    input_tokens_details: { cached_tokens: read, cache_write_tokens: written },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  });
}
