import type { Shape } from './bodies.ts';

const each = (times: number, part: (at: number) => string): string =>
  Array.from({ length: times }, (_, at) => part(at)).join('');
const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const filler = (times: number): string => 'k'.repeat(20 * times);

const choice = (index: number, delta: object, rest: object = {}) => ({ index, delta, ...rest });
const chunk = (...choices: object[]): string => data({ id: 'x', model: 'm', choices });
const list = (times: number, part: (at: number) => object): object[] =>
  Array.from({ length: times }, (_, at) => part(at));
const finish = (index: number): string => chunk(choice(index, {}, { finish_reason: 'stop' }));

/** Streams with as many channels as events, that all hold text back, and with names and places as long as they are many. */
export const streams: Readonly<Record<string, readonly Shape[]>> = {
  chat: [
    { name: 'a choice an event', text: (times) => each(times, (at) => chunk(choice(at, { content: 'Acm' }))) },
    {
      name: 'a choice an event, then an end for each',
      text: (times) => each(times, (at) => chunk(choice(at, { content: 'Acm' }))) + each(times, finish),
    },
    {
      name: 'all choices in one event, then an end for each',
      text: (times) => chunk(...list(times, (at) => choice(at, { content: 'Acm' }))) + each(times, finish),
    },
    {
      name: 'all choices in one event, all ended by one',
      text: (times) =>
        chunk(...list(times, (at) => choice(at, { content: 'Acm' }))) +
        chunk(...list(times, (at) => choice(at, {}, { finish_reason: 'stop' }))),
    },
    {
      name: 'all parts in one event, then a word for each',
      text: (times) =>
        chunk(choice(0, { content: list(times, (index) => ({ index, text: 'Acm' })) })) +
        each(times, (index) => chunk(choice(0, { content: [{ index, text: 'x' }] }))),
    },
    {
      name: 'two kinds of text by turns',
      text: (times) =>
        each(times, (at) => chunk(choice(0, at % 2 ? { content: 'Acm' } : { reasoning_content: 'Acm' }))),
    },
    {
      name: 'parts under a long name',
      text: (times) =>
        chunk(choice(0, { content: { [filler(times)]: list(times, () => ({ text: 'Acm', type: 'a' })) } })),
    },
    {
      name: 'parts under a name of many steps',
      text: (times) =>
        chunk(choice(0, { content: { ['/'.repeat(20 * times)]: list(times, () => ({ text: 'Acm' })) } })),
    },
    {
      name: 'a long id over many choices',
      text: (times) =>
        data({ id: filler(10 * times), choices: list(10 * times, (at) => choice(at, { content: 'Acm' })) }),
    },
    { name: 'a word an event', text: (times) => each(times, () => chunk(choice(0, { content: 'Acm' }))) },
    {
      name: 'token probabilities, of which some name someone',
      text: (times) =>
        chunk(...list(times, (at) => choice(times - at, { content: 'Acm' }, { logprobs: [at % 2 ? 'Acme' : 'a'] }))),
    },
    { name: 'ends of streams', text: (times) => each(times, () => 'data: [DONE]\n\n') },
  ],
  responses: [
    ...['done', 'delta'].map((last) => ({
      name: `a text an event, then ${last} for each`,
      text: (times: number) =>
        each(times, (at) => data({ type: 'response.output_text.delta', output_index: at, delta: 'Acm' })) +
        each(times, (at) => data({ type: `response.output_text.${last}`, output_index: at, text: 'Acm', delta: 'a' })),
    })),
    ...[{ output_index: 0 }, { output_index: 0, sequence_number: 1 }].map((place) => ({
      name: `many texts in one event, ended by one ${Object.keys(place)}`,
      text: (times: number) => {
        const delta = Object.fromEntries(list(times, () => ({})).map((_, at) => [`out${at}`, 'Acm']));
        return (
          data({ ...place, type: 'response.shell.delta', delta }) +
          each(times, () => data({ ...place, type: 'response.shell.done' }))
        );
      },
    })),
    ...[
      (long: string) => ({ type: 'response.shell.delta', output_index: long }),
      (long: string) => ({ type: `response.${long}.delta` }),
    ].map((event) => ({
      name: `many texts in a long place ${JSON.stringify(event('…'))}`,
      text: (times: number) =>
        data({
          ...event(filler(10 * times)),
          delta: Object.fromEntries(list(times, () => ({})).map((_, at) => [at, 'Acm'])),
        }),
    })),
    {
      name: 'texts of a part with a long type',
      text: (times) =>
        `data: {"type":"response.content_part.added","part":{"type":"${filler(times)}"${each(times, () => ',"text":"Acm"')}}}\n\n`,
    },
  ],
  messages: [
    {
      name: 'a block an event, then an end for each',
      text: (times) =>
        each(times, (index) =>
          data({ type: 'content_block_delta', index, delta: { type: 'text_delta', text: 'Acm' } }),
        ) + each(times, (index) => data({ type: 'content_block_stop', index })),
    },
    {
      name: 'a block an event, then one end for all',
      text: (times) =>
        each(times, (index) =>
          data({ type: 'content_block_delta', index, delta: { type: 'text_delta', text: 'Acm' } }),
        ) + data({ type: 'message_delta', delta: {} }),
    },
    { name: 'pings', text: (times) => each(times, () => data({ type: 'ping' })) },
  ],
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
  {
    name: 'thoughts and texts by turns',
    text: (times) =>
      each(times, (at) => chunk(choice(0, at % 2 ? { content: 'a' } : { reasoning_content: 'b' }))) + done,
  },
  { name: 'a word an event', text: (times) => each(10 * times, () => chunk(choice(0, { content: 'a word' }))) + done },
  {
    name: 'a word an event with its probability',
    text: (times) =>
      each(times, () =>
        chunk(choice(0, { content: 'a' }, { logprobs: { content: [{ token: 'a', logprob: -1, bytes: null }] } })),
      ) + done,
  },
  { name: 'a call an event', text: (times) => each(times, (at) => calls(begun(at))) },
  { name: 'all calls in one event', text: (times) => calls(...list(times, (at) => begun(at))) },
  { name: 'calls that end in the order of their beginning', text: (times) => callsThenEnds(times, (at) => at) },
  { name: 'calls that end in the other order', text: (times) => callsThenEnds(times, (at) => times - 1 - at) },
  ...['f', 'patch'].flatMap((name): Shape[] => [
    {
      name: `a piece of the input of ${name} an event`,
      text: (times) =>
        calls(begun(0, name)) + each(10 * times, () => calls(argued(0, 'word \\n'))) + calls(argued(0, '"}')) + done,
    },
    {
      name: `white space before the input of ${name}`,
      text: (times) =>
        calls({ ...begun(0, name), function: { name, arguments: '' } }) +
        each(10 * times, () => calls(argued(0, ' '))) +
        calls(argued(0, '{"input":""}')) +
        done,
    },
    {
      name: `pieces of two calls of ${name} by turns`,
      text: (times) =>
        calls(begun(0, name), begun(1, name)) +
        each(10 * times, (at) => calls(argued(at % 2, 'word '))) +
        calls(argued(0, '"}'), argued(1, '"}')) +
        done,
    },
  ]),
  {
    name: 'a call that has its name at last',
    text: (times) =>
      each(times, () => calls({ index: 0, id: 'c', function: { arguments: ' ' } })) +
      calls(begun(0)) +
      calls(argued(0, '"}')),
  },
  {
    name: 'texts behind an open call',
    text: (times) => calls(begun(0)) + each(times, () => chunk(choice(0, { content: 'a' }))),
  },
  { name: 'comments', text: (times) => chunk(choice(0, { content: 'a' })) + each(times, () => ': ping\n\n') + done },
];

/** Calls that are all open, and then end in this order. */
function callsThenEnds(times: number, order: (at: number) => number): string {
  return each(times, (at) => calls(begun(at))) + each(times, (at) => calls(argued(order(at), '"}'))) + done;
}

/** Non-events and unusual forms of events, for any dialect. */
export const wires: readonly Shape[] = [
  { name: 'comments', text: (times) => `${data({})}${each(times, () => ': a\n\n')}` },
  { name: 'lines of one comment', text: (times) => each(times, () => ': a\n') },
  { name: 'empty lines', text: (times) => '\n'.repeat(10 * times) },
  { name: 'carriage returns', text: (times) => each(times, () => 'data: {}\r\r') },
  { name: 'both line ends', text: (times) => each(times, () => 'data: {}\r\n\r\n') },
  { name: 'an event of many lines', text: (times) => `data: [\n${each(times, () => 'data: 1,\n')}data: 1]\n\n` },
  { name: 'unknown fields', text: (times) => each(times, () => 'a: b\n') },
  { name: 'types and ids', text: (times) => each(times, () => 'event: Acme\nid: Acme\ndata: {}\n\n') },
  { name: 'an event that never ends', text: (times) => `data: "${filler(times)}` },
  { name: 'an event that is cut', text: (times) => `data: {"a":[${each(times, () => '1,')}` },
  { name: 'blank data', text: (times) => each(times, () => 'data: \n\n') },
];
