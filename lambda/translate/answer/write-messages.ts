import { createBlockQueue } from './block-queue.ts';
import type { Facts, Finish } from './facts.ts';
import { createMessageEvents } from './messages-events.ts';
import { type AnswerWriter, countTokens, createCallIds, type Writing } from './writer.ts';

export interface MessagesWriting extends Writing {
  /** Whether the client wants to see the thoughts, or only to send them back. */
  readonly showsThoughts: boolean;
}

/** Writes Anthropic messages. */
export function createMessagesWriter(writing: MessagesWriting): AnswerWriter {
  const { live, tools, seal } = writing;
  const events = createMessageEvents(live);
  const blocks = createBlockQueue({ live, events, seal });
  const idOf = createCallIds('toolu_', writing.newHex);
  const id = `msg_${writing.newHex()}`;
  let answer = '';
  let hasCalled = false;
  let hasRefused = false;

  const messageOf = (rest: string) =>
    `{"id":"${id}","type":"message","role":"assistant","model":${JSON.stringify(writing.model)},"content":[${blocks.content.join(',')}],${rest}}`;

  function stopReason(reason: Finish, stop: string | undefined): string {
    const members = (name: string, text = 'null') => `"stop_reason":"${name}","stop_sequence":${text}`;
    if (reason === 'length') return members('max_tokens');
    if (reason === 'filtered' || hasRefused) return members('refusal');
    if (hasCalled) return members('tool_use');
    return stop === undefined ? members('end_turn') : members('stop_sequence', JSON.stringify(stop));
  }

  const facts: Facts = {
    begin() {
      const nothing = JSON.stringify(counts({ input: 0, read: 0, written: 0, output: 0 }));
      const message = messageOf(`"stop_reason":null,"stop_sequence":null,"usage":${nothing}`);
      events.write('message_start', `"message":${message}`);
      events.write('ping');
    },
    told(kind, text) {
      if (kind === 'refused') hasRefused = true;
      const block = blocks.addText(kind, kind === 'thought' && !writing.showsThoughts ? '""' : text);
      block.thought?.add(writing.takeThought());
    },
    called(call) {
      hasCalled = true;
      blocks.addCall(call, `"id":${JSON.stringify(idOf(call))},"name":${JSON.stringify(tools.find(call.name).name)}`);
    },
    argued: blocks.addArguments,
    finished(reason, stop) {
      blocks.closeAll(reason);
      const why = stopReason(reason, stop);
      const usage = `"usage":${usageOf(writing)}`;
      answer = messageOf(`${why},${usage}`);
      events.write('message_delta', `"delta":{${why}},${usage}`);
      events.write('message_stop');
    },
  };
  return {
    ...facts,
    take: events.take,
    nextSequence: 0,
    get answer() {
      return answer;
    },
  };
}

const counts = (tokens: { input: number; read: number; written: number; output: number }) => ({
  input_tokens: tokens.input - tokens.read - tokens.written,
  cache_creation_input_tokens: tokens.written,
  cache_read_input_tokens: tokens.read,
  output_tokens: tokens.output,
});

const usageOf = ({ usage }: Writing): string => JSON.stringify(counts(countTokens(usage)));
