import { begin, call, cases, chunk, counted, end, fragment, more, say } from './case.ts';

const rain = '{"city":"Paris"}';
const sun = '{"city":"Rome"}';
const one = [{ call: 'weather', args: rain, id: 'call_a' }];
const two = [...one, { call: 'weather', args: sun, id: 'call_b' }];
const twoTools = [...one, { call: 'clock', args: '{"zone":1}', id: 'call_b' }];
const withoutIds = (calls: typeof one) => calls.map(({ id: _, ...rest }) => rest);
const [head, tail] = ['{"ci', 'ty":"Paris"}'];
const calls = (reason = 'tool_calls') => end(reason);

/** One call, in all the fragments that servers send. */
export const singleCalls = cases(one, [
  ['a call', [chunk({ role: 'assistant', content: null }), begin('call_a'), more(head), more(tail), calls(), counted]],
  [
    'in each chunk the name, the id, both, or both empty',
    [
      begin('call_a'),
      call({ index: 0, name: 'weather', args: '{' }),
      call({ index: 0, id: 'call_a', args: '"ci' }),
      begin('call_a', 0, 'weather', 'ty":'),
      begin('', 0, '', '"Paris"}'),
      calls(),
    ],
  ],
  [
    'a new id in each chunk, and the name in the first',
    [
      begin('call_a'),
      call({ index: 0, id: 'call_x', args: head }),
      call({ index: 0, id: 'call_y', args: tail }),
      calls(),
    ],
  ],
  [
    'a single call without a list',
    [
      chunk({ tool_calls: fragment({ id: 'call_a', name: 'weather', args: head }) }),
      chunk({ tool_calls: fragment({ args: tail }) }),
      calls(),
    ],
  ],
  [
    'the whole call repeated at the end',
    [begin('call_a'), more(head), more(tail), begin('call_a', 0, 'weather', rain), calls()],
  ],
  ['arguments as an object', [call({ index: 0, id: 'call_a', name: 'weather', args: { city: 'Paris' } }), calls()]],
  [
    'arguments before the name',
    [call({ index: 0, args: head }), call({ index: 0, id: 'call_a', name: 'weather', args: tail }), calls()],
  ],
  ['neither id nor index', [call({ name: 'weather', args: rain }), calls('stop')], { says: withoutIds(one) }],
  [
    'a legacy function call',
    [
      chunk({ function_call: { name: 'weather', arguments: '' } }),
      chunk({ function_call: { arguments: head } }),
      chunk({ function_call: { arguments: tail } }),
      calls('function_call'),
    ],
    { says: withoutIds(one) },
  ],
  [
    'numbers beyond double precision, spacing, and brackets and quotes in strings',
    [
      begin('call_a', 0, 'weather', '\n { "n": 12345678901234567890,\n'),
      more('  "f": 1.0, "a":"}{\\"'),
      chunk({ tool_calls: [fragment({ index: 0, args: '[","b":"\\\\"}' })] }, { finish_reason: 'tool_calls' }),
    ],
    {
      says: [
        {
          ...{ call: 'weather', id: 'call_a' },
          args: '\n { "n": 12345678901234567890,\n  "f": 1.0, "a":"}{\\"[","b":"\\\\"}',
        },
      ],
    },
  ],
]);

const nothing = { call: 'weather', args: '{}' };
const none = [{ ...nothing, id: 'call_a' }];

/** Calls without arguments. */
export const emptyCalls = cases(none, [
  [
    'arguments that are an empty object, its text, empty, missing or null',
    [
      begin('call_a', 0, 'weather', '{}'),
      call({ index: 1, id: 'call_b', name: 'weather', args: {} }),
      begin('call_c', 2),
      call({ index: 3, id: 'call_d', name: 'weather' }),
      call({ index: 4, id: 'call_e', name: 'weather', args: null }),
      calls(),
    ],
    { says: ['a', 'b', 'c', 'd', 'e'].map((letter) => ({ ...nothing, id: `call_${letter}` })) },
  ],
  [
    'two calls without arguments, ids and indexes',
    [call({ name: 'weather' }, { name: 'clock' }), calls()],
    { says: [nothing, { ...nothing, call: 'clock' }] },
  ],
]);

/** Several calls. */
export const parallelCalls = cases(two, [
  [
    'one after the other',
    [begin('call_a'), more(rain), begin('call_b', 1), more(' \n'), more(sun, 1), calls(), counted],
  ],
  [
    'two, interleaved',
    [begin('call_a'), begin('call_b', 1), more(head), more('{"city"', 1), more(tail), more(':"Rome"}', 1), calls()],
  ],
  ['the second complete before the first', [begin('call_a'), begin('call_b', 1, 'weather', sun), more(rain), calls()]],
  ['always index 0, with new ids', [begin('call_a'), more(rain), begin('call_b'), more(sun), calls()]],
  [
    'always index 0, and a new id before its name',
    [
      begin('call_a', 0, 'weather', rain),
      call({ index: 0, id: 'call_b' }),
      call({ name: 'weather', args: sun }),
      calls(),
    ],
  ],
  [
    'always index 0, with both ids interleaved',
    [
      begin('call_a'),
      begin('call_b'),
      call({ index: 0, id: 'call_a', args: rain }),
      call({ index: 0, id: 'call_b', args: sun }),
      calls(),
    ],
  ],
  [
    'no index, ids in the first chunks only',
    [
      call({ id: 'call_a', name: 'weather' }),
      call({ args: rain }),
      call({ id: 'call_b', name: 'weather' }),
      call({ args: sun }),
      calls(),
    ],
  ],
  [
    'neither ids nor indexes, in one delta',
    [call({ name: 'weather', args: rain }, { name: 'weather', args: sun }), calls()],
    { says: withoutIds(two) },
  ],
  [
    'always index 0 without ids, and other names',
    [call({ index: 0, name: 'weather', args: rain }), call({ index: 0, name: 'clock', args: '{"zone":1}' }), calls()],
    { says: withoutIds(twoTools) },
  ],
  [
    'the same id twice',
    [begin('call_a', 0, 'weather', rain), begin('call_a', 1, 'clock', '{"zone":1}'), calls()],
    { says: [...one, { call: 'clock', args: '{"zone":1}' }] },
  ],
]);

const [begun, whole] = [head, rain].map((args) => fragment({ index: 0, id: 'call_a', name: 'weather', args }));

/** Calls beside texts and reasoning. */
export const mixed = cases(one, [
  [
    'a text and a call in one delta',
    [chunk({ content: 'Let me look.', tool_calls: [whole] }), calls()],
    { says: [{ text: 'Let me look.' }, ...one] },
  ],
  [
    'empty contents and lists beside a call',
    [
      chunk({ content: '', reasoning_content: '', tool_calls: [begun] }),
      ...[
        chunk({ tool_calls: [] }),
        chunk({ tool_calls: null }),
        chunk({ content: '', tool_calls: [fragment({ index: 0, args: tail })] }),
      ],
      calls(),
    ],
  ],
  [
    'a text while a call is not complete',
    [begin('call_a'), more(head), say('By the way.'), more(tail), calls()],
    { says: [...one, { text: 'By the way.' }] },
  ],
]);
