import type { Call, Facts, Finish, Literal, TextKind } from './facts.ts';
import {
  type CallItem,
  createCall,
  createResponseEvents,
  createTextItem,
  type ItemStatus,
  type ResponseEvents,
  type TextItem,
} from './responses-items.ts';
import { type AnswerWriter, countTokens, createCallIds, type Writing } from './writer.ts';

export interface ResponsesWriting extends Writing {
  /** The members of the request that a response repeats, as JSON without the braces, on one line. */
  readonly echo: string;
  /** Whether the client asked for what only this gateway can read of the thoughts. */
  readonly wantsSeal: boolean;
}

/** Writes OpenAI responses. */
export function createResponsesWriter(writing: ResponsesWriting): AnswerWriter {
  const events = createResponseEvents(writing.live);
  const items = createOutput(writing, events);
  const id = `resp_${writing.newHex()}`;
  const createdAt = Math.floor(writing.now() / 1000);
  let answer = '';

  function responseOf(state: { status: string; completedAt?: number; incomplete?: string; usage?: string }): string {
    const { status, completedAt = null, incomplete, usage = 'null' } = state;
    const details = incomplete === undefined ? 'null' : `{"reason":"${incomplete}"}`;
    return (
      `{"id":"${id}","object":"response","created_at":${createdAt},"completed_at":${completedAt},"status":"${status}",` +
      `"error":null,"incomplete_details":${details},"model":${JSON.stringify(writing.model)},"output":[${items.output.join(',')}],` +
      `${writing.echo},"usage":${usage}}`
    );
  }

  const facts: Facts = {
    begin() {
      const response = responseOf({ status: 'in_progress' });
      events.write('response.created', `"response":${response}`);
      events.write('response.in_progress', `"response":${response}`);
    },
    told: items.addText,
    called: items.addCall,
    argued: items.addArguments,
    finished(finish) {
      items.closeAll(finish);
      const usage = usageOf(writing);
      const incomplete = incompleteBy[finish];
      const completedAt = Math.floor(writing.now() / 1000);
      answer = responseOf(
        incomplete === undefined
          ? { status: 'completed', completedAt, usage }
          : { status: 'incomplete', incomplete, usage },
      );
      events.write(`response.${incomplete === undefined ? 'completed' : 'incomplete'}`, `"response":${answer}`);
    },
  };

  return {
    ...facts,
    take: events.take,
    get nextSequence() {
      return events.nextSequence;
    },
    get answer() {
      return answer;
    },
  };
}

/** The items of a response. One text is open at a time; beside it, any number of calls. */
function createOutput(writing: ResponsesWriting, events: ResponseEvents) {
  const { live, tools, newHex } = writing;
  const callIdOf = createCallIds('call_', newHex);
  const output: string[] = [];
  const calls = new Map<Call, { readonly index: number; readonly item: CallItem }>();
  let begun = 0;
  let open: { readonly index: number; readonly item: TextItem } | undefined;

  const placeOf = (prefix: string) => ({ index: begun++, id: `${prefix}_${newHex()}` });

  function closeText(status: ItemStatus = 'completed'): void {
    if (open) output[open.index] = open.item.close(status);
    open = undefined;
  }

  /** Closes the calls to which most likely nothing will be added. */
  function closeCalls(isThrough = (call: Call): boolean => call.arguments.isClosed): void {
    for (const [call, { index, item }] of calls) {
      if (!isThrough(call)) continue;
      output[index] = item.close('completed');
      calls.delete(call);
    }
  }

  return {
    /** Those that are closed, as JSON. */
    output,
    /** Adds to the open text if that is of this kind; otherwise closes whatever else is open, and begins one. */
    addText(kind: TextKind, text: Literal, logprobs?: string): void {
      const type = kind === 'thought' ? 'reasoning' : 'message';
      if (open?.item.type !== type) {
        closeText();
        closeCalls();
        const place = placeOf(type === 'reasoning' ? 'rs' : 'msg');
        const sealing = type === 'reasoning' && writing.wantsSeal ? writing : undefined;
        open = { index: place.index, item: createTextItem(events, place, type, sealing) };
      }
      open.item.add(kind, text, logprobs);
    },
    addCall(call: Call): void {
      closeText();
      closeCalls();
      const tool = tools.find(call.name);
      const place = placeOf({ function: 'fc', custom: 'ctc', tool_search: 'tsc' }[tool.kind]);
      const item = createCall(events, place, { call, callId: callIdOf(call), tool, live });
      calls.set(call, { index: place.index, item });
    },
    // What comes after the end of a call's arguments is no part of them.
    addArguments: (call: Call, text: Literal): void => calls.get(call)?.item.add(text),
    closeAll(finish: Finish): void {
      closeText(finish === 'done' ? 'completed' : 'incomplete');
      closeCalls((call) => finish === 'done' || call.arguments.isClosed);
      for (const { index, item } of calls.values()) output[index] = item.abandon();
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
