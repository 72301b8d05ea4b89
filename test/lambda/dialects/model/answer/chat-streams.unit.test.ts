import { expect, test } from '@jest/globals';
import { readEvents } from '../../../../support/client-view.ts';
import { type ChatCase, end, type Piece, usageOf } from './cases/case.ts';
import { chatCases } from './cases/index.ts';
import { assertResponse } from './response-schema.ts';
import { bytesOf, type Client, clients, plainOf, translateAnswer, translateStream } from './translated.ts';
import { assertMessage, assertStream, fold } from './validate.ts';

/** A request with everything that a response repeats. */
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

/** The expected output of a response. A refusal is part of the message before it. */
function outputOf(says: readonly Piece[]): unknown[] {
  const output: { type: string; content?: unknown[] }[] = [];
  for (const piece of says) {
    const last = output.at(-1);
    if ('reasoning' in piece) {
      output.push(Object({ type: 'reasoning', summary: [{ type: 'summary_text', text: piece.reasoning }] }));
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

/** The expected content of a message. */
function contentOf(says: readonly Piece[]): unknown[] {
  return says.map((piece) => {
    if ('reasoning' in piece) return { type: 'thinking', thinking: piece.reasoning };
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

/** Ids depend on the order in which parts begin. */
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
    const folded = fold(client, events);
    assertSays[client](folded, one);
    const plain = plainOf(one);
    if (plain === undefined) continue;
    const answer = translateAnswer(client, plain, setupOf(one));
    (client === 'responses' ? assertResponse : assertMessage)(answer);
    expect(withoutIds(answer)).toEqual(withoutIds(folded));
  }
});

test.each([
  [{ cached_tokens: 9 }, [5, 5, 0], [0, 5, 0]],
  [{ cached_tokens: 4, cache_write_tokens: 9 }, [5, 4, 1], [0, 4, 1]],
])('the parts of 5 tokens never add up to more than 5, in each dialect: %j', (details, asResponse, asMessage) => {
  const told = { prompt_tokens_details: details, completion_tokens_details: { reasoning_tokens: 9 } };
  const chunks = [end(), usageOf({ prompt_tokens: 5, completion_tokens: 1, ...told })];
  const usage = (client: Client) => fold(client, readEvents(translateStream(client, bytesOf({ chunks })).output)).usage;
  const { input_tokens, input_tokens_details: cached, output_tokens_details } = usage('responses');
  expect(output_tokens_details).toEqual({ reasoning_tokens: 1 });
  expect([input_tokens, cached.cached_tokens, cached.cache_write_tokens]).toEqual(asResponse);
  const counts = usage('messages');
  const { cache_read_input_tokens: read, cache_creation_input_tokens: written } = counts;
  expect([counts.input_tokens, read, written]).toEqual(asMessage);
  expect(counts.output_tokens_details).toEqual({ thinking_tokens: 1 });
});
