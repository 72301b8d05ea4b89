import { expect } from '@jest/globals';
import { json, sse } from '../../local/upstream/script.ts';
import { sealText as signatureOf } from '../../local/upstream/speaker.ts';
import type { Answer, RecordedRequest } from './fake-upstream.ts';
import { createBinding } from './message-rules.ts';

// biome-ignore lint/suspicious/noExplicitAny: what was sent is checked here
type Sent = any;

interface Said {
  readonly thinking?: string;
  readonly redacted?: string;
  readonly text?: string;
  readonly call?: string;
  readonly id?: string;
  readonly input?: object;
}

const usage = { input_tokens: 4, cache_read_input_tokens: 6, cache_creation_input_tokens: 2, output_tokens: 1 };

function blockOf({ thinking, redacted, text, call, id = 'toolu_1', input = {} }: Said): Sent {
  if (thinking !== undefined) return { type: 'thinking', thinking, signature: signatureOf(thinking) };
  if (redacted !== undefined) return { type: 'redacted_thinking', data: redacted };
  return call === undefined ? { type: 'text', text } : { type: 'tool_use', id, name: call, input };
}

interface Ending {
  readonly reason?: string;
  readonly stop?: string | null;
  readonly model?: string;
}

/** A plain message with this content. */
export function messageOf(said: readonly Said[], { reason, stop = null, model = 'up-model' }: Ending = {}): Sent {
  const calls = said.some(({ call }) => call !== undefined);
  return {
    id: 'msg_upstream',
    type: 'message',
    role: 'assistant',
    model,
    content: said.map(blockOf),
    stop_reason: reason ?? (calls ? 'tool_use' : 'end_turn'),
    stop_sequence: stop,
    container: null,
    usage: { ...usage, output_tokens: 5, service_tier: 'standard', inference_geo: 'mars' },
  };
}

/** The same as a stream, its texts cut into chunks of this many characters. */
export function eventsOf(said: readonly Said[], ending: Ending = {}, length = 3): object[] {
  const { content, stop_reason, stop_sequence, ...message } = messageOf(said, ending);
  const cut = (text: string) => text.match(new RegExp(`.{1,${length}}`, 'gsu')) ?? [];
  const blocks = content.flatMap((block: Sent, index: number) => {
    const deltas = {
      text: () => cut(block.text).map((text) => ({ type: 'text_delta', text })),
      thinking: () => [
        ...cut(block.thinking).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: block.signature },
      ],
      tool_use: () =>
        cut(JSON.stringify(block.input) === '{}' ? '' : JSON.stringify(block.input)).map((partial_json) => ({
          type: 'input_json_delta',
          partial_json,
        })),
      redacted_thinking: () => [],
    }[block.type as 'text']();
    const empty = { text: { text: '' }, thinking: { thinking: '', signature: '' }, tool_use: { input: {} } };
    return [
      { type: 'content_block_start', index, content_block: { ...block, ...Object(empty)[block.type] } },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ];
  });
  return [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage } },
    { type: 'ping' },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ];
}

export const toWire = (events: readonly object[]): string =>
  events.map((event) => `event: ${Object(event).type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

const turnOf = (turn: number) => ({
  reasoning: [{ thinking: `Thunder thinks of turn ${turn}.` }, { redacted: `blob${turn}` }],
  text: { text: `Turn ${turn}.` },
});

/** A model that refuses reasoning which does not follow what it originally followed. */
export function createBindingModel() {
  const binding = createBinding();
  return {
    /** Its next answer, unless the request is refused. */
    says:
      (said: readonly Said[], ending: Ending = {}): Answer =>
      ({ body: bytes }) => {
        const body = JSON.parse(`${bytes}`);
        const message = binding.faultIn(body);
        if (message) return json(400, { type: 'error', error: { type: 'invalid_request_error', message } });
        const answer = messageOf(said, ending);
        binding.bind(body, answer.content);
        return body.stream ? sse(toWire(eventsOf(said, ending))) : json(200, answer);
      },
  };
}

/** A model that reasons and calls this tool in every turn but the last. */
export function conversation(tool: string, input: object, turns: number): Answer {
  const { says } = createBindingModel();
  return (request) => {
    const body = JSON.parse(`${request.body}`);
    const turn = body.messages.filter(({ role }: Sent) => role === 'assistant').length + 1;
    const { reasoning, text } = turnOf(turn);
    const said = [
      ...reasoning,
      ...(turn < turns ? [text, { call: tool, id: `toolu_${turn}`, input }] : [{ text: 'Done.' }]),
    ];
    const answer = says(said);
    return typeof answer === 'function' ? answer(request) : answer;
  };
}

/** Expects that a request returns this many turns of that conversation, with the reasoning if its client sends any. */
export function expectTurnsIn(request: RecordedRequest | undefined, turns: number, withReasoning: boolean): void {
  const { messages } = JSON.parse(`${request?.body}`);
  const contents = messages.filter(({ role }: Sent) => role === 'assistant').map(({ content }: Sent) => content);
  const withoutCalls = contents.map((content: Sent[]) => content.filter(({ type }) => type !== 'tool_use'));
  const expected = Array.from({ length: turns }, (_, index) => {
    const { reasoning, text } = turnOf(index + 1);
    return [...(withReasoning ? reasoning : []), text].map(blockOf);
  });
  expect(withoutCalls).toEqual(expected);
}
