import { expect } from '@jest/globals';
import type { ClientEvent } from '../../../../support/client-view.ts';
import { assertEvent } from './response-schema.ts';
import type { Client } from './translated.ts';

// biome-ignore lint/suspicious/noExplicitAny: what is on the wire is checked here
type Wire = any;

/** Reads a stream of responses as the strictest client would: every event must be valid, numbered, and in its place. */
function followResponses(wire: readonly Wire[]): void {
  const open = new Map<number, { id: string; text: string; part: number; isPartOpen: boolean }>();
  const done: Wire[] = [];
  let items = 0;
  for (const [at, event] of wire.entries()) {
    assertEvent(event);
    expect(event.sequence_number).toBe(at);
    const { type, output_index: index } = event;
    if (at < 2) expect(type).toBe(['response.created', 'response.in_progress'][at]);
    const item = open.get(index);
    if (type === 'response.output_item.added') {
      expect(index).toBe(items++);
      open.set(index, { id: event.item.id, text: '', part: -1, isPartOpen: false });
      continue;
    }
    if (index === undefined) continue;
    if (!item) throw new Error(`${type} of an item that is not open`);
    expect(event.item_id ?? event.item.id).toBe(item.id);
    if (type.endsWith('part.added')) {
      expect([item.isPartOpen, event.content_index ?? event.summary_index]).toEqual([false, item.part + 1]);
      Object.assign(item, { part: item.part + 1, isPartOpen: true, text: '' });
    } else if (type.endsWith('.delta')) item.text += event.delta;
    else if (type.endsWith('part.done')) item.isPartOpen = false;
    else if (type === 'response.output_item.done') {
      expect(item.isPartOpen).toBe(false);
      open.delete(index);
      done[index] = event.item;
    } else expect(event.text ?? event.refusal ?? event.arguments ?? event.input).toBe(item.text);
  }
  const last = wire.at(-1);
  if (last.type === 'error') return;
  expect(['response.completed', 'response.incomplete']).toContain(last.type);
  // Only calls that were cut off stay open, and the response says so.
  const left = [...open.keys()];
  expect(left.map((index) => last.response.output[index].status)).toEqual(left.map(() => 'incomplete'));
  if (left.length > 0) expect(last.type).toBe('response.incomplete');
  expect(last.response.output).toEqual(last.response.output.map((item: Wire, index: number) => done[index] ?? item));
  expect(last.response.output).toHaveLength(items);
}

/** The required members in the SDK's types. Anthropic publishes no schemas. */
const starts: Readonly<Record<string, object>> = {
  text: { type: 'text', text: '' },
  thinking: { type: 'thinking', thinking: '', signature: '' },
  tool_use: { type: 'tool_use', id: expect.any(String), name: expect.any(String), input: {} },
};
const deltas: Readonly<Record<string, readonly string[]>> = {
  ...{ text: ['text_delta'], thinking: ['thinking_delta', 'signature_delta'], tool_use: ['input_json_delta'] },
};
const count = expect.any(Number);
const counts = {
  ...{ input_tokens: count, cache_creation_input_tokens: count, cache_read_input_tokens: count, output_tokens: count },
  output_tokens_details: { thinking_tokens: count },
  server_tool_use: null,
};
const usage = { ...counts, cache_creation: null, inference_geo: null, service_tier: null, speed: null };

export function assertMessage(message: unknown): void {
  const id = expect.stringMatching(/^msg_/);
  expect(message).toMatchObject({ id, role: 'assistant', type: 'message', model: 'svc' });
  expect(Object(message).usage).toEqual(usage);
  expect(message).toHaveProperty('stop_sequence');
}

/** The same for messages: one block is open at a time, and their indexes have no gaps. */
function followMessages(wire: readonly Wire[]): void {
  let open: string | undefined;
  let index = 0;
  for (const [at, event] of wire.entries()) {
    const { type } = event;
    if (event.index !== undefined) expect(event.index).toBe(index);
    if (at === 0) {
      expect(type).toBe('message_start');
      assertMessage(event.message);
    } else if (type === 'content_block_start') {
      expect(open).toBe(undefined);
      open = String(event.content_block.type);
      expect(event.content_block).toEqual(starts[open]);
    } else if (type === 'content_block_delta') expect(deltas[open ?? '']).toContain(event.delta.type);
    else if (type === 'content_block_stop') {
      expect(open).toBeDefined();
      open = undefined;
      index += 1;
    } else if (type === 'message_delta') {
      expect([open, wire[at + 1].type, event.usage]).toEqual([undefined, 'message_stop', counts]);
    } else if (type === 'message_stop' || type === 'error') expect(at).toBe(wire.length - 1);
    else expect(type).toBe('ping');
  }
  expect(['message_stop', 'error']).toContain(wire.at(-1).type);
}

/** Throws unless these events are a valid stream of the dialect, whole or ended by an error. */
export function assertStream(client: Client, read: readonly ClientEvent[]): void {
  for (const { type, value } of read) expect(Object(value).type).toBe(type);
  const wire = read.map(({ value }) => value);
  if (client === 'responses') followResponses(wire);
  else followMessages(wire);
}

/** What the events of a stream add up to, for a client that relies only on what the dialect guarantees. */
export function fold(client: Client, read: readonly ClientEvent[]): Wire {
  const events = read.map(({ value }) => Object(value));
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
    if (type === 'message_delta') Object.assign(message, delta, { usage: { ...message.usage, ...usage } });
  }
  return message;
}
