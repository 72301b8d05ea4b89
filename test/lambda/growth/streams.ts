import { type Shape, shapesOf } from './bodies.ts';

const each = (times: number, part: (at: number) => string): string =>
  Array.from({ length: times }, (_, at) => part(at)).join('');
const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const filler = (times: number): string => 'k'.repeat(20 * times);

const choice = (index: number, delta: object, rest: object = {}) => ({ index, delta, ...rest });
const chunk = (...choices: object[]): string => data({ id: 'x', model: 'm', choices });
const list = (times: number, part: (at: number) => object): object[] =>
  Array.from({ length: times }, (_, at) => part(at));
const finish = (index: number): string => chunk(choice(index, {}, { finish_reason: 'stop' }));

const shell = { type: 'response.shell.delta' };
const many = (times: number) => Object.fromEntries(Array.from({ length: times }, (_, at) => [`out${at}`, 'Acm']));

/** Streams with as many channels as events, that all hold text back, and with names and places as long as they are many. */
export const streams: Readonly<Record<string, readonly Shape[]>> = {
  chat: shapesOf({
    'a choice an event, then an end for each': (times) =>
      each(times, (at) => chunk(choice(at, { content: 'Acm' }))) + each(times, finish),
    'all choices in one event, all ended by one': (times) =>
      chunk(...list(times, (at) => choice(at, { content: 'Acm' }))) +
      chunk(...list(times, (at) => choice(at, {}, { finish_reason: 'stop' }))),
    'all parts in one event, then a word for each': (times) =>
      chunk(choice(0, { content: list(times, (index) => ({ index, text: 'Acm' })) })) +
      each(times, (index) => chunk(choice(0, { content: [{ index, text: 'x' }] }))),
    'two kinds of text by turns': (times) =>
      each(times, (at) => chunk(choice(0, at % 2 ? { content: 'Acm' } : { reasoning_content: 'Acm' }))),
    'parts under a long name': (times) =>
      chunk(choice(0, { content: { [filler(times)]: list(times, () => ({ text: 'Acm', type: 'a' })) } })),
    'parts under a name of many steps': (times) =>
      chunk(choice(0, { content: { ['/'.repeat(20 * times)]: list(times, () => ({ text: 'Acm' })) } })),
    'a long id over many choices': (times) =>
      data({ id: filler(10 * times), choices: list(10 * times, (at) => choice(at, { content: 'Acm' })) }),
    'a word an event': (times) => each(times, () => chunk(choice(0, { content: 'Acm' }))),
    'token probabilities, of which some name someone': (times) =>
      chunk(...list(times, (at) => choice(times - at, { content: 'Acm' }, { logprobs: [at % 2 ? 'Acme' : 'a'] }))),
    'ends of streams': (times) => each(times, () => 'data: [DONE]\n\n'),
  }),
  responses: shapesOf({
    'a text an event, then its end for each': (times) =>
      each(times, (at) => data({ type: 'response.output_text.delta', output_index: at, delta: 'Acm' })) +
      each(times, (at) => data({ type: 'response.output_text.done', output_index: at, text: 'Acm' })),
    'many texts in one event, ended by one': (times) =>
      data({ ...shell, output_index: 0, sequence_number: 1, delta: many(times) }) +
      each(times, () => data({ type: 'response.shell.done', output_index: 0 })),
    'many texts in a long place': (times) => data({ ...shell, output_index: filler(10 * times), delta: many(times) }),
    'many texts of a long type': (times) => data({ type: `response.${filler(10 * times)}.delta`, delta: many(times) }),
    'texts of a part with a long type': (times) =>
      `data: {"type":"response.content_part.added","part":{"type":"${filler(times)}"${each(times, () => ',"text":"Acm"')}}}\n\n`,
  }),
  messages: shapesOf({
    'a block an event, then an end for each': (times) =>
      each(times, (index) => data({ type: 'content_block_delta', index, delta: { type: 'text_delta', text: 'Acm' } })) +
      each(times, (index) => data({ type: 'content_block_stop', index })),
    'a block an event, then one end for all': (times) =>
      each(times, (index) => data({ type: 'content_block_delta', index, delta: { type: 'text_delta', text: 'Acm' } })) +
      data({ type: 'message_delta', delta: {} }),
    pings: (times) => each(times, () => data({ type: 'ping' })),
  }),
};

const calls = (...fragments: object[]): string => chunk(choice(0, { tool_calls: fragments }));
const begun = (index: number, name = 'f'): object => ({
  index,
  id: `c${index}`,
  function: { name, arguments: '{"input":"' },
});
const argued = (index: number, text: string): object => ({ index, function: { arguments: text } });
const done = `${finish(0)}data: [DONE]\n\n`;

/** Streams of chat that a client of another dialect gets in its own: with very many texts and calls, and those in many pieces. */
export const translatedStreams: readonly Shape[] = [
  ...['f', 'patch'].flatMap((name) =>
    shapesOf({
      [`a piece of the input of ${name} an event`]: (times) =>
        calls(begun(0, name)) + each(10 * times, () => calls(argued(0, 'word \\n'))) + calls(argued(0, '"}')) + done,
      [`white space before the input of ${name}`]: (times) =>
        calls({ ...begun(0, name), function: { name, arguments: '' } }) +
        each(10 * times, () => calls(argued(0, ' '))) +
        calls(argued(0, '{"input":""}')) +
        done,
      [`pieces of two calls of ${name} by turns`]: (times) =>
        calls(begun(0, name), begun(1, name)) +
        each(10 * times, (at) => calls(argued(at % 2, 'word '))) +
        calls(argued(0, '"}'), argued(1, '"}')) +
        done,
    }),
  ),
  ...shapesOf({
    'thoughts and texts by turns': (times) =>
      each(times, (at) => chunk(choice(0, at % 2 ? { content: 'a' } : { reasoning_content: 'b' }))) + done,
    'a word an event': (times) => each(10 * times, () => chunk(choice(0, { content: 'a word' }))) + done,
    'a word an event with its probability': (times) =>
      each(times, () =>
        chunk(choice(0, { content: 'a' }, { logprobs: { content: [{ token: 'a', logprob: -1, bytes: null }] } })),
      ) + done,
    'a call an event': (times) => each(times, (at) => calls(begun(at))),
    'all calls in one event': (times) => calls(...list(times, (at) => begun(at))),
    'very many calls that stay open': (times) => calls(...list(20 * times, (at) => begun(at))),
    'calls that end in the order of their beginning': (times) => callsThenEnds(times, (at) => at),
    'calls that end in the other order': (times) => callsThenEnds(times, (at) => times - 1 - at),
    'a call that has its name at last': (times) =>
      each(times, () => calls({ index: 0, id: 'c', function: { arguments: ' ' } })) +
      calls(begun(0)) +
      calls(argued(0, '"}')),
    'texts behind an open call': (times) => calls(begun(0)) + each(times, () => chunk(choice(0, { content: 'a' }))),
    comments: (times) => chunk(choice(0, { content: 'a' })) + each(times, () => ': ping\n\n') + done,
  }),
];

const block = (index: number, content_block: object, ...deltas: object[]): string =>
  data({ type: 'content_block_start', index, content_block }) +
  deltas.map((delta) => data({ type: 'content_block_delta', index, delta })).join('') +
  data({ type: 'content_block_stop', index });
const message = (blocks: string): string =>
  data({ type: 'message_start', message: { content: [], usage: { input_tokens: 1 } } }) +
  blocks +
  data({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } }) +
  data({ type: 'message_stop' });
const signed = { type: 'signature_delta', signature: 'abcd' };
const pieces = (times: number, partial_json: string) => list(times, () => ({ type: 'input_json_delta', partial_json }));
const textBlock = { type: 'text', text: '' };
const thinkingBlock = { type: 'thinking', thinking: '', signature: '' };
const toolBlock = (at: number) => ({ type: 'tool_use', id: `toolu_${at}`, name: 'f', input: {} });

/** Streams of messages that a client of another dialect gets in its own: many blocks, and blocks in many pieces. */
export const translatedBlocks: readonly Shape[] = shapesOf({
  'a word an event': (times) =>
    message(block(0, textBlock, ...list(10 * times, () => ({ type: 'text_delta', text: 'a word' })))),
  'a piece of the input an event': (times) =>
    message(
      block(0, toolBlock(0), { type: 'input_json_delta', partial_json: '{"a":"' }, ...pieces(10 * times, 'word '), {
        ...{ type: 'input_json_delta', partial_json: '"}' },
      }),
    ),
  'a piece of a thought and of its signature an event': (times) =>
    message(
      block(
        0,
        thinkingBlock,
        ...list(10 * times, () => ({ type: 'thinking_delta', thinking: 'a word' })),
        ...list(10 * times, () => ({ type: 'signature_delta', signature: 'abcd' })),
      ),
    ),
  'a text a block': (times) =>
    message(each(10 * times, (at) => block(at, textBlock, { type: 'text_delta', text: 'Acm' }))),
  'a call a block': (times) => message(each(times, (at) => block(at, toolBlock(at)))),
  'thoughts and texts by turns': (times) =>
    message(
      each(10 * times, (at) =>
        at % 2
          ? block(at, textBlock, { type: 'text_delta', text: 'a' })
          : block(at, thinkingBlock, ...[{ type: 'thinking_delta', thinking: 'b' }, signed]),
      ),
    ),
  'a redacted thought a block': (times) =>
    message(each(10 * times, (at) => block(at, { type: 'redacted_thinking', data: 'abcd' }))),
  pings: (times) => message(each(times, () => data({ type: 'ping' }))),
});

/** Calls that are all open, and then end in this order. */
function callsThenEnds(times: number, order: (at: number) => number): string {
  return each(times, (at) => calls(begun(at))) + each(times, (at) => calls(argued(order(at), '"}'))) + done;
}

/** Non-events and unusual forms of events, for any dialect. */
export const wires: readonly Shape[] = shapesOf({
  comments: (times) => `${data({})}${each(times, () => ': a\n\n')}`,
  'lines of one comment': (times) => each(times, () => ': a\n'),
  'empty lines': (times) => '\n'.repeat(10 * times),
  'carriage returns': (times) => each(times, () => 'data: {}\r\r'),
  'both line ends': (times) => each(times, () => 'data: {}\r\n\r\n'),
  'an event of many lines': (times) => `data: [\n${each(times, () => 'data: 1,\n')}data: 1]\n\n`,
  'unknown fields': (times) => each(times, () => 'a: b\n'),
  'types and ids': (times) => each(times, () => 'event: Acme\nid: Acme\ndata: {}\n\n'),
  'an event that never ends': (times) => `data: "${filler(times)}`,
  'an event that is cut': (times) => `data: {"a":[${each(times, () => '1,')}`,
  'blank data': (times) => each(times, () => 'data: \n\n'),
});
