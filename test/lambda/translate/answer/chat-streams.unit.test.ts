import { expect, test } from '@jest/globals';
import { readEvents } from '../../../support/client-view.ts';
import type { ChatCase, Piece } from './cases/case.ts';
import { chatCases } from './cases/index.ts';
import { assertResponse } from './response-schema.ts';
import { bytesOf, type Client, clients, plainOf, translateAnswer, translateStream } from './translated.ts';
import { assertMessage, assertStream } from './validate.ts';

/** A request that asks for all that a response repeats. */
const body = {
  ...{ instructions: 'Be brief.', metadata: { a: 'b' }, tool_choice: { type: 'function', name: 'weather' }, user: 'u' },
  ...{ parallel_tool_calls: false, truncation: 'auto', temperature: 0.5, top_p: 1, max_output_tokens: 9 },
  top_logprobs: 2,
  ...{ tools: [{ type: 'function', name: 'weather' }], reasoning: { effort: 'minimal', summary: 'auto' } },
  text: { format: { type: 'json_schema', name: 'output', schema: { type: 'object' } }, verbosity: 'low' },
};
const setupOf = ({ stop }: ChatCase) => ({ stops: stop === undefined ? [] : [stop], body });
const anyId = expect.stringMatching(/^(call|toolu)_\d{32}$/);
const ended = { done: 'completed', length: 'incomplete', filtered: 'incomplete' };

/** The output that a response should have. A refusal is part of the message that it follows on. */
function outputOf(says: readonly Piece[]): unknown[] {
  const output: { type: string; content?: unknown[] }[] = [];
  for (const piece of says) {
    const last = output.at(-1);
    if ('thought' in piece) {
      output.push(Object({ type: 'reasoning', summary: [{ type: 'summary_text', text: piece.thought }] }));
    } else if ('call' in piece) {
      const { call: name, args, id = anyId } = piece;
      output.push(Object({ type: 'function_call', call_id: id, name, arguments: args, status: 'completed' }));
    } else {
      const part =
        'text' in piece
          ? { type: 'output_text', text: piece.text, logprobs: (piece.logprobs ?? []).map(() => expect.any(Object)) }
          : { type: 'refusal', refusal: piece.refusal };
      if (last?.type === 'message') last.content?.push(part);
      else output.push({ type: 'message', content: [part] });
    }
  }
  return output;
}

/** The content that a message should have. */
function contentOf(says: readonly Piece[]): unknown[] {
  return says.map((piece) => {
    if ('thought' in piece) return { type: 'thinking', thinking: piece.thought };
    if ('call' in piece) {
      return { type: 'tool_use', id: piece.id ?? anyId, name: piece.call, input: JSON.parse(piece.args) };
    }
    return { type: 'text', text: 'text' in piece ? piece.text : piece.refusal };
  });
}

function stopReasonOf({ says, finish = 'done', stop }: ChatCase): string {
  const has = (kind: string) => says.some((piece) => kind in piece);
  if (finish === 'length') return 'max_tokens';
  if (finish === 'filtered' || has('refusal')) return 'refusal';
  if (has('call')) return 'tool_use';
  return stop === undefined ? 'end_turn' : 'stop_sequence';
}

const assertSays: Record<Client, (answer: Record<string, unknown>, one: ChatCase) => void> = {
  responses({ status, output }, { says, finish = 'done' }) {
    expect(status).toBe(ended[finish]);
    expect(output).toMatchObject(outputOf(says));
  },
  messages({ content, stop_reason, stop_sequence }, one) {
    expect(content).toMatchObject(contentOf(one.says));
    expect([stop_reason, stop_sequence]).toEqual([stopReasonOf(one), one.stop ?? null]);
  },
};

/** What the events of a stream add up to, for a client that only counts on what the dialect promises. */
function fold(client: Client, values: readonly unknown[]): unknown {
  const events = values.map(Object);
  if (client === 'responses') return events.at(-1).response;
  const message = structuredClone(events[0].message);
  for (const { type, index, content_block: block, delta, usage } of events) {
    if (type === 'content_block_start') message.content[index] = { ...block, json: '' };
    const open = message.content[index];
    if (delta?.type === 'text_delta') open.text += delta.text;
    if (delta?.type === 'thinking_delta') open.thinking += delta.thinking;
    if (delta?.type === 'signature_delta') open.signature = delta.signature;
    if (delta?.type === 'input_json_delta') open.json += delta.partial_json;
    if (type === 'content_block_stop' && open.type === 'tool_use') open.input = JSON.parse(open.json || '{}');
    if (type === 'content_block_stop') delete open.json;
    if (type === 'message_delta') Object.assign(message, delta, { usage });
  }
  return message;
}

/** Ids are random, and given out in the order in which things begin. */
const withoutIds = (value: unknown) =>
  JSON.parse(
    JSON.stringify(value, (name, member) => (/^(\w+_)?id$/.test(name) && /\d{32}$/.test(member) ? 'id' : member)),
  );

test.each(chatCases.map((one) => [one.name, one] as const))('%s', (_name, one) => {
  for (const client of clients) {
    const { output, ended: isEnded } = translateStream(client, bytesOf(one), setupOf(one));
    expect(isEnded).toBe(true);
    const events = readEvents(output);
    assertStream(client, events);
    const values = events.map(({ value }) => value);
    const folded = Object(fold(client, values));
    assertSays[client](folded, one);
    const plain = plainOf(one);
    if (plain === undefined) continue;
    const answer = translateAnswer(client, plain, setupOf(one));
    (client === 'responses' ? assertResponse : assertMessage)(answer);
    expect(withoutIds(answer)).toEqual(withoutIds(folded));
  }
});
