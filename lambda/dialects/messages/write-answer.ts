import type { Finish } from '../model/answer/answer-sink.ts';
import {
  type AnswerOptions,
  type AnswerWriter,
  countTokens,
  createCallIds,
  createEvents,
} from '../model/answer/answer-writer.ts';
import { toolNamed } from '../model/tools.ts';
import { createMessageBlocks } from './write-blocks.ts';

/** Writes messages for a client. */
export function createMessagesWriter(options: AnswerOptions): AnswerWriter {
  const { live, tools, newHex } = options;
  const events = createEvents({ live, numbered: false });
  const blocks = createMessageBlocks(options, events);
  const idOf = createCallIds('toolu_', newHex);
  const id = `msg_${newHex()}`;
  let hasCalled = false;
  let hasRefused = false;

  const messageOf = (rest: string) =>
    [
      `{"id":"${id}","type":"message","role":"assistant","model":${JSON.stringify(options.model)},`,
      `"content":[${blocks.content.join(',')}],${rest},"container":null,"diagnostics":null}`,
    ].join('');

  function stopReason(reason: Finish, stop: string | undefined): string {
    const members = (name: string, text = 'null') =>
      `"stop_reason":"${name}","stop_sequence":${text},"stop_details":null`;
    if (reason === 'length') return members('max_tokens');
    if (reason === 'filtered' || hasRefused) return members('refusal');
    if (hasCalled) return members('tool_use');
    return stop === undefined ? members('end_turn') : members('stop_sequence', JSON.stringify(stop));
  }

  return {
    events,
    begin() {
      const message = messageOf(`"stop_reason":null,"stop_sequence":null,"stop_details":null,${usageOf({})}`);
      events.write('message_start', `"message":${message}`);
      events.write('ping');
    },
    text(kind, text) {
      const isReasoning = kind === 'reasoning';
      if (kind === 'refusal') hasRefused = true;
      blocks.addText(
        kind,
        isReasoning && !options.reasoning.shown ? '""' : text,
        isReasoning ? options.takeReasoning() : '""',
      );
    },
    reasoningEnd() {},
    call(call) {
      hasCalled = true;
      blocks.addCall(
        call,
        `"id":${JSON.stringify(idOf(call))},"name":${JSON.stringify(toolNamed(tools, call.name).name)}`,
      );
    },
    callArguments: blocks.addArguments,
    finish(reason, stop) {
      blocks.closeAll(reason);
      const why = stopReason(reason, stop);
      const message = messageOf(`${why},${usageOf(options.usage)}`);
      const counts = `"usage":${JSON.stringify(countsOf(options.usage))}`;
      events.write('message_delta', `"delta":{${why},"container":null},${counts}`);
      events.write('message_stop');
      return [message];
    },
  };
}

function usageOf(usage: AnswerOptions['usage']): string {
  const ofVendor = { cache_creation: null, inference_geo: null, service_tier: null, speed: null };
  return `"usage":${JSON.stringify({ ...countsOf(usage), ...ofVendor })}`;
}

/** The members of a usage that the end of a stream repeats. */
function countsOf(usage: AnswerOptions['usage']) {
  const { input, read, written, output, reasoning } = countTokens(usage);
  return {
    input_tokens: input - read - written,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    output_tokens: output,
    output_tokens_details: { thinking_tokens: reasoning },
    server_tool_use: null,
  };
}
