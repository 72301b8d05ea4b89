import type { Piece } from '../../json/pieces.ts';
import type { Finish, Literal, TextKind, ToolCall } from '../model/answer/answer-sink.ts';
import {
  type AnswerOptions,
  type AnswerWriter,
  countTokens,
  createCallIds,
  createEvents,
  type Events,
} from '../model/answer/answer-writer.ts';
import { toolNamed } from '../model/tools.ts';
import { type CallItem, createCallItem, createTextItem, type ItemStatus, type TextItem } from './write-items.ts';

/** Writes responses for a client. */
export function createResponsesWriter(options: AnswerOptions): AnswerWriter {
  const events = createEvents({ live: options.live, numbered: true });
  const items = createOutput(options, events);
  const id = `resp_${options.newHex()}`;
  const createdAt = Math.floor(options.now() / 1000);

  function responseOf(status: string, { completedAt = 'null', incomplete = 'null', usage = 'null' } = {}): Piece[] {
    return [
      `{"id":"${id}","object":"response","created_at":${createdAt},"completed_at":${completedAt},"status":"${status}",`,
      `"error":null,"incomplete_details":${incomplete},"access_programs":null,"model":${JSON.stringify(options.model)},`,
      `"output":[${items.output.join(',')}],`,
      ...options.echo,
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
    text: items.addText,
    reasoningEnd: items.endReasoning,
    call: items.addCall,
    callArguments: items.addArguments,
    finish(finish) {
      items.closeAll(finish);
      const usage = usageOf(options);
      const reason = incompleteBy[finish];
      const completedAt = `${Math.floor(options.now() / 1000)}`;
      const status = reason === undefined ? 'completed' : 'incomplete';
      const how = reason === undefined ? { completedAt } : { incomplete: `{"reason":"${reason}"}` };
      const response = responseOf(status, { ...how, usage });
      events.write(`response.${status}`, '"response":', ...response);
      return response;
    },
  };
}

/** The output items of a response. Only one text is open at a time, but any number of calls. */
function createOutput(options: AnswerOptions, events: Events) {
  const { live, tools, newHex } = options;
  const callIdOf = createCallIds('call_', newHex);
  const output: string[] = [];
  const calls = new Map<ToolCall, CallItem>();
  /** Calls that got arguments since closeCalls() last checked them. */
  const touched = new Set<ToolCall>();
  let begun = 0;
  let open: TextItem | undefined;

  const placeOf = (prefix: string) => ({ index: begun++, id: `${prefix}_${newHex()}` });

  function closeText(status: ItemStatus = 'completed'): void {
    if (open) output[open.index] = open.close(status);
    open = undefined;
  }

  function closeCall(call: ToolCall): void {
    const item = calls.get(call);
    if (item) output[item.index] = item.close('completed');
    calls.delete(call);
  }

  /** Closes the calls whose arguments look complete. */
  function closeCalls(): void {
    for (const call of touched) if (call.arguments.isClosed) closeCall(call);
    touched.clear();
  }

  /** Returns the open text if it is of this type. Otherwise, closes what is open and begins one. */
  function openText(type: TextItem['type']): TextItem {
    if (open?.type === type) return open;
    closeText();
    closeCalls();
    const sealing = type === 'reasoning' && options.reasoning.sealed ? options : undefined;
    open = createTextItem(events, placeOf(type === 'reasoning' ? 'rs' : 'msg'), type, sealing);
    return open;
  }

  return {
    /** The closed items, as JSON. */
    output,
    addText(kind: TextKind, text: Literal, logprobs?: string): void {
      openText(kind === 'reasoning' ? 'reasoning' : 'message').add(kind, text, logprobs);
    },
    /** Encrypted reasoning without a text becomes an item, too, if the client can send it back. */
    endReasoning(): void {
      if (!options.reasoning.sealed) return;
      openText('reasoning').takeReasoning();
    },
    addCall(call: ToolCall): void {
      closeText();
      closeCalls();
      const tool = toolNamed(tools, call.name);
      const place = placeOf({ function: 'fc', custom: 'ctc', tool_search: 'tsc' }[tool.kind]);
      calls.set(call, createCallItem(events, place, { call, callId: callIdOf(call), tool, live }));
    },
    // Ignores what comes after the end of a call's arguments.
    addArguments(call: ToolCall, text: Literal): void {
      calls.get(call)?.add(text);
      touched.add(call);
    },
    closeAll(finish: Finish): void {
      closeText(finish === 'done' ? 'completed' : 'incomplete');
      for (const call of calls.keys()) if (finish === 'done' || call.arguments.isClosed) closeCall(call);
      for (const item of calls.values()) output[item.index] = item.abandon();
    },
  };
}

const incompleteBy: Readonly<Record<Finish, string | undefined>> = {
  done: undefined,
  length: 'max_output_tokens',
  filtered: 'content_filter',
};

function usageOf({ usage }: AnswerOptions): string {
  const { input, read, written, output, reasoning } = countTokens(usage);
  return JSON.stringify({
    input_tokens: input,
    input_tokens_details: { cached_tokens: read, cache_write_tokens: written },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  });
}
