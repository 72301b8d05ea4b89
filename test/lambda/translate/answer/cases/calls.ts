import { type ChatCase, call, chunk, counted, end, fragment, say, think, tokens } from './case.ts';

const rain = '{"city":"Paris"}';
const sun = '{"city":"Rome"}';
const one = [{ call: 'weather', args: rain, id: 'call_a' }];
const two = [...one, { call: 'weather', args: sun, id: 'call_b' }];
const twoTools = [...one, { call: 'clock', args: '{"zone":1}', id: 'call_b' }];
const [head, tail] = ['{"ci', 'ty":"Paris"}'];
const calls = (reason = 'tool_calls') => end(reason);
const begin = (id: string, index = 0, name = 'weather', args = '') => call({ index, id, name, args });

/** One call, cut up in every way that servers have. */
export const singleCalls: readonly ChatCase[] = [
  {
    name: 'a call',
    chunks: [
      chunk({ role: 'assistant', content: null }),
      begin('call_a'),
      call({ index: 0, args: head }),
      call({ index: 0, args: tail }),
      calls(),
      counted,
    ],
    says: one,
    usage: tokens,
  },
  {
    name: 'in each chunk the name, the id, both, or both empty',
    chunks: [
      begin('call_a'),
      call({ index: 0, name: 'weather', args: '{' }),
      call({ index: 0, id: 'call_a', args: '"ci' }),
      begin('call_a', 0, 'weather', 'ty":'),
      begin('', 0, '', '"Paris"}'),
      calls(),
    ],
    says: one,
  },
  {
    name: 'a new id in each chunk, and the name in the first',
    chunks: [
      begin('call_a'),
      call({ index: 0, id: 'call_x', args: head }),
      call({ index: 0, id: 'call_y', args: tail }),
      calls(),
    ],
    says: one,
  },
  {
    name: 'a call by itself, and not in a list',
    chunks: [
      chunk({ tool_calls: fragment({ id: 'call_a', name: 'weather', args: head }) }),
      chunk({ tool_calls: fragment({ args: tail }) }),
      calls(),
    ],
    says: one,
  },
  {
    name: 'no index',
    chunks: [
      call({ id: 'call_a', name: 'weather', args: '' }),
      call({ id: 'call_a', args: head }),
      call({ args: tail }),
      calls(),
    ],
    says: one,
  },
  {
    name: 'an index that begins at one',
    chunks: [begin('call_a', 1), call({ index: 1, args: rain }), calls()],
    says: one,
  },
  {
    name: 'all arguments in the only chunk, without a type',
    chunks: [
      chunk(
        { tool_calls: [{ index: 0, id: 'call_a', function: { name: 'weather', arguments: rain } }] },
        { finish_reason: 'tool_calls' },
      ),
    ],
    says: one,
  },
  {
    name: 'the whole call once more at the end',
    chunks: [
      begin('call_a'),
      call({ index: 0, args: head }),
      call({ index: 0, args: tail }),
      begin('call_a', 0, 'weather', rain),
      calls(),
    ],
    says: one,
  },
  {
    name: 'arguments as an object',
    chunks: [call({ index: 0, id: 'call_a', name: 'weather', args: { city: 'Paris' } }), calls()],
    says: one,
  },
  {
    name: 'the name after the id',
    chunks: [
      call({ index: 0, id: 'call_a' }),
      call({ index: 0, name: 'weather' }),
      call({ index: 0, args: rain }),
      calls(),
    ],
    says: one,
  },
  {
    name: 'arguments before the name',
    chunks: [call({ index: 0, id: 'call_a', args: head }), call({ index: 0, name: 'weather', args: tail }), calls()],
    says: one,
  },
  {
    name: 'no id at all',
    chunks: [call({ index: 0, name: 'weather', args: head }), call({ index: 0, args: tail }), calls()],
    says: [{ call: 'weather', args: rain }],
  },
  {
    name: 'neither id nor index',
    chunks: [call({ name: 'weather', args: rain }), calls('stop')],
    says: [{ call: 'weather', args: rain }],
  },
  {
    name: 'a legacy function call',
    chunks: [
      chunk({ function_call: { name: 'weather', arguments: '' } }),
      chunk({ function_call: { arguments: head } }),
      chunk({ function_call: { arguments: tail } }),
      calls('function_call'),
    ],
    says: [{ call: 'weather', args: rain }],
  },
  { name: 'an end that says stop', chunks: [begin('call_a', 0, 'weather', rain), end('stop')], says: one },
  {
    name: 'numbers that no number holds, spacing, and brackets and quotes in strings',
    chunks: [
      begin('call_a', 0, 'weather', '\n { "n": 12345678901234567890,\n'),
      call({ index: 0, args: '  "f": 1.0, "a":"}{\\"' }),
      chunk({ tool_calls: [fragment({ index: 0, args: '[","b":"\\\\"}' })] }, { finish_reason: 'tool_calls' }),
    ],
    says: [
      {
        ...{ call: 'weather', id: 'call_a' },
        args: '\n { "n": 12345678901234567890,\n  "f": 1.0, "a":"}{\\"[","b":"\\\\"}',
      },
    ],
  },
];

const none = [{ call: 'weather', args: '{}', id: 'call_a' }];

/** Calls of tools that take nothing. */
export const emptyCalls: readonly ChatCase[] = [
  {
    name: 'arguments that are an empty object, its text, empty, missing or null',
    chunks: [
      begin('call_a', 0, 'weather', '{}'),
      call({ index: 1, id: 'call_b', name: 'weather', args: {} }),
      begin('call_c', 2),
      call({ index: 3, id: 'call_d', name: 'weather' }),
      call({ index: 4, id: 'call_e', name: 'weather', args: null }),
      calls(),
    ],
    says: ['a', 'b', 'c', 'd', 'e'].map((letter) => ({ call: 'weather', args: '{}', id: `call_${letter}` })),
  },
  {
    name: 'an empty object in pieces',
    chunks: [begin('call_a'), call({ index: 0, args: '{' }), call({ index: 0, args: '}' }), calls()],
    says: none,
  },
  {
    name: 'two calls without arguments',
    chunks: [begin('call_a'), begin('call_b', 1, 'clock'), calls()],
    says: [...none, { call: 'clock', args: '{}', id: 'call_b' }],
  },
  {
    name: 'two calls without arguments, ids and indexes',
    chunks: [call({ name: 'weather' }, { name: 'clock' }), calls()],
    says: [
      { call: 'weather', args: '{}' },
      { call: 'clock', args: '{}' },
    ],
  },
];

/** Several calls. */
export const parallelCalls: readonly ChatCase[] = [
  {
    name: 'one after the other',
    chunks: [
      begin('call_a'),
      call({ index: 0, args: rain }),
      begin('call_b', 1),
      call({ index: 1, args: sun }),
      calls(),
      counted,
    ],
    says: two,
    usage: tokens,
  },
  {
    name: 'two in each delta',
    chunks: [
      call({ index: 0, id: 'call_a', name: 'weather' }, { index: 1, id: 'call_b', name: 'weather' }),
      call({ index: 0, args: head }, { index: 1, args: '{"city":' }),
      call({ index: 0, args: tail }, { index: 1, args: '"Rome"}' }),
      calls(),
    ],
    says: two,
  },
  {
    name: 'two that take turns',
    chunks: [
      begin('call_a'),
      begin('call_b', 1),
      call({ index: 0, args: head }),
      call({ index: 1, args: '{"city"' }),
      call({ index: 0, args: tail }),
      call({ index: 1, args: ':"Rome"}' }),
      calls(),
    ],
    says: two,
  },
  {
    name: 'the second complete before the first',
    chunks: [begin('call_a'), begin('call_b', 1, 'weather', sun), call({ index: 0, args: rain }), calls()],
    says: two,
  },
  {
    name: 'always index 0, with new ids',
    chunks: [begin('call_a'), call({ index: 0, args: rain }), begin('call_b'), call({ index: 0, args: sun }), calls()],
    says: two,
  },
  {
    name: 'always index 0, and both ids in turns',
    chunks: [
      begin('call_a'),
      begin('call_b'),
      call({ index: 0, id: 'call_a', args: rain }),
      call({ index: 0, id: 'call_b', args: sun }),
      calls(),
    ],
    says: two,
  },
  {
    name: 'no index, with ids',
    chunks: [
      call({ id: 'call_a', name: 'weather', args: rain }),
      call({ id: 'call_b', name: 'weather', args: sun }),
      calls(),
    ],
    says: two,
  },
  {
    name: 'no index, ids in turns',
    chunks: [
      call({ id: 'call_a', name: 'weather' }),
      call({ id: 'call_b', name: 'weather' }),
      call({ id: 'call_a', args: rain }),
      call({ id: 'call_b', args: sun }),
      calls(),
    ],
    says: two,
  },
  {
    name: 'no index, ids in the first chunks only',
    chunks: [
      call({ id: 'call_a', name: 'weather' }),
      call({ args: rain }),
      call({ id: 'call_b', name: 'weather' }),
      call({ args: sun }),
      calls(),
    ],
    says: two,
  },
  {
    name: 'neither ids nor indexes, in one delta',
    chunks: [call({ name: 'weather', args: rain }, { name: 'weather', args: sun }), calls()],
    says: two.map(({ id: _, ...rest }) => rest),
  },
  {
    name: 'always index 0 without ids, and other names',
    chunks: [
      call({ index: 0, name: 'weather', args: rain }),
      call({ index: 0, name: 'clock', args: '{"zone":1}' }),
      calls(),
    ],
    says: twoTools.map(({ id: _, ...rest }) => rest),
  },
  {
    name: 'the same id twice',
    chunks: [begin('call_a', 0, 'weather', rain), begin('call_a', 1, 'clock', '{"zone":1}'), calls()],
    says: [...one, { call: 'clock', args: '{"zone":1}' }],
  },
  {
    name: 'indexes with a gap',
    chunks: [begin('call_a', 0, 'weather', rain), begin('call_b', 5, 'clock', '{"zone":1}'), calls()],
    says: twoTools,
  },
  {
    name: 'indexes backwards',
    chunks: [begin('call_a', 3, 'weather', rain), begin('call_b', 1, 'clock', '{"zone":1}'), calls()],
    says: twoTools,
  },
  {
    name: 'twenty',
    chunks: [...Array.from({ length: 20 }, (_, at) => begin(`call_${at}`, at, 'weather', rain)), calls()],
    says: Array.from({ length: 20 }, (_, at) => ({ call: 'weather', args: rain, id: `call_${at}` })),
  },
];

/** Calls beside texts and thoughts. */
export const mixed: readonly ChatCase[] = [
  {
    name: 'a text and a call in one delta',
    chunks: [
      chunk({
        content: 'Let me look.',
        tool_calls: [fragment({ index: 0, id: 'call_a', name: 'weather', args: rain })],
      }),
      calls(),
    ],
    says: [{ text: 'Let me look.' }, ...one],
  },
  {
    name: 'a thought, a text and a call',
    chunks: [think('Hm.'), say('Look:'), begin('call_a'), call({ index: 0, args: rain }), calls()],
    says: [{ thought: 'Hm.' }, { text: 'Look:' }, ...one],
  },
  {
    name: 'empty contents and lists beside a call',
    chunks: [
      chunk({
        content: '',
        reasoning_content: '',
        tool_calls: [fragment({ index: 0, id: 'call_a', name: 'weather', args: head })],
      }),
      ...[chunk({ tool_calls: [] }), chunk({ tool_calls: null })],
      chunk({ content: '', tool_calls: [fragment({ index: 0, args: tail })] }),
      calls(),
    ],
    says: one,
  },
  {
    name: 'a text after a call',
    chunks: [begin('call_a', 0, 'weather', rain), say('There.'), end('tool_calls')],
    says: [...one, { text: 'There.' }],
  },
  {
    name: 'a thought after a call',
    chunks: [begin('call_a', 0, 'weather', rain), think('And now?'), calls()],
    says: [...one, { thought: 'And now?' }],
  },
  {
    name: 'a call, a text and another call',
    chunks: [begin('call_a', 0, 'weather', rain), say('Next.'), begin('call_b', 1, 'weather', sun), calls()],
    says: [...one, { text: 'Next.' }, { call: 'weather', args: sun, id: 'call_b' }],
  },
  {
    name: 'a text while a call is not complete',
    chunks: [
      begin('call_a'),
      call({ index: 0, args: head }),
      say('By the way.'),
      call({ index: 0, args: tail }),
      calls(),
    ],
    says: [...one, { text: 'By the way.' }],
  },
  {
    name: 'a thought between the fragments of a call',
    chunks: [begin('call_a'), think('Paris?'), call({ index: 0, args: rain }), calls()],
    says: [...one, { thought: 'Paris?' }],
  },
];
