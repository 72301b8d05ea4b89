import { expect, test } from '@jest/globals';
import { type ClientEvent, readEvents } from '../../../../support/client-view.ts';
import fc, { many } from '../../../../support/properties.ts';
import { chatCases } from './cases/index.ts';
import { bytesOf, type Client, clients, translateStream } from './translated.ts';
import { assertStream } from './validate.ts';

/** Streams with the caller's stop sequences, and the arguments of their calls. */
const streams = chatCases.map((one) => ({
  bytes: bytesOf(one),
  setup: { stops: one.stop === undefined ? [] : [one.stop] },
  inputs: one.says.flatMap((piece) => ('args' in piece ? [JSON.parse(piece.args)] : [])),
}));

/** The calls that a client would run: those reported as complete. */
const completeCalls: Record<Client, (values: readonly ClientEvent[]) => unknown[]> = {
  responses: (events) =>
    events
      .map(({ value }) => Object(value))
      .filter(({ type, item }) => type === 'response.output_item.done' && item.type === 'function_call')
      .map(({ item }) => JSON.parse(item.arguments)),
  messages: (events) => {
    const open = new Map<number, string>();
    return events.flatMap(({ value }) => {
      const { type, index, content_block: block, delta } = Object(value);
      if (block?.type === 'tool_use') open.set(index, '');
      if (delta?.type === 'input_json_delta') open.set(index, open.get(index) + delta.partial_json);
      return type === 'content_block_stop' && open.has(index) ? [JSON.parse(open.get(index) || '{}')] : [];
    });
  },
};

const fractions = fc.double({ min: 0, max: 1, noNaN: true });

/** Whether a chat stream says that it is over, so that nothing was cut off. */
function saysItsEnd(bytes: Buffer): boolean {
  const tryParse = (data: string): unknown => {
    try {
      return JSON.parse(data);
    } catch {
      return undefined;
    }
  };
  return readEvents(`${bytes}\n\n`, tryParse).some(({ data, value }) => {
    const reason = Object(value).choices?.[0]?.finish_reason ?? '';
    return data === '[DONE]' || !['', 'null'].includes(reason);
  });
}

test.each(clients)('a chat stream cut off at any byte is a valid stream of %s, but never looks complete', (client) => {
  const property = fc.property(fc.constantFrom(...streams), fractions, ({ bytes, setup, inputs }, fraction) => {
    const kept = bytes.subarray(0, Math.floor(fraction * bytes.length));
    const { output, ended } = translateStream(client, kept, setup);
    const events = readEvents(output);
    expect(ended).toBe(saysItsEnd(kept));
    if (!ended) expect(events.at(-1)?.type).toBe('error');
    if (ended || events.length > 1) assertStream(client, events);
    for (const call of completeCalls[client](events)) expect(inputs).toContainEqual(call);
  });
  fc.assert(property, { numRuns: many(150) });
});
