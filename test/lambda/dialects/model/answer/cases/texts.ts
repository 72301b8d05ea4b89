import { cases, chunk, counted, end, say, think } from './case.ts';

const role = chunk({ role: 'assistant', content: '' });
const hello = [{ text: 'Hello there' }];

const probability = { token: 'Hello there', logprob: -0.1, bytes: null, top_logprobs: [] };

/** Answers of text only. */
export const texts = cases(hello, [
  ['a text', [role, say('Hello'), say(' there'), end(), counted]],
  [
    'roles, contents and deltas that are empty or null, and unknown members',
    [
      chunk({ content: null }),
      chunk({ role: 'assistant', content: 'Hello', audio_tokens: 0 }, { content_filter_results: {} }),
      say(''),
      chunk(null),
      chunk({ role: '', content: ' there', extra: { deep: [1] } }),
      chunk(null, { finish_reason: 'stop', matched_token: 2 }),
    ],
  ],
  [
    'chunks without choices, and choices without an index',
    [
      { ...chunk({}), choices: [], prompt_filter_results: [{ prompt_index: 0 }] },
      { choices: [{ delta: { content: 'Hello' } }] },
      { id: 'x', object: 'chat.completion.chunk' },
      { ...chunk({}), choices: null },
      {},
      { choices: [{ delta: { content: ' there' }, finish_reason: 'stop' }] },
    ],
  ],
  [
    'pieces under message',
    [
      { choices: [{ index: 0, message: { content: 'Hello' } }] },
      { choices: [{ index: 0, message: { content: ' there' }, finish_reason: 'stop' }] },
    ],
  ],
  [
    'the whole message repeated at the end',
    [say('Hello'), say(' there'), end('stop', { message: { role: 'assistant', content: 'Hello there' } })],
  ],
  [
    'pieces of a legacy completion beside empty deltas',
    [
      { choices: [{ index: 0, delta: {}, text: 'Hello' }] },
      { choices: [{ index: 0, delta: { role: 'assistant', content: '' }, text: ' there', finish_reason: 'stop' }] },
    ],
  ],
  [
    'a surrogate pair that is split, as escapes',
    [
      'data: {"choices":[{"index":0,"delta":{"content":"\\ud83d"}}]}\n\n',
      'data: {"choices":[{"index":0,"delta":{"content":"\\ude00!"},"finish_reason":"stop"}]}\n\n',
    ],
    { says: [{ text: '😀!' }] },
  ],
  [
    'comments, CRLF line ends, an event over several lines and one with a type',
    [
      ': ping\r\n\r\n',
      `data: ${JSON.stringify(say('Hello'))}\r\n\r\n`,
      ':\r\n\r\n',
      `event: message\ndata: ${JSON.stringify(say(' there'), null, 1).replaceAll('\n', '\ndata: ')}\n\n`,
      `data: ${JSON.stringify(end())}\r\n\r\n`,
    ],
  ],
  [
    'token probabilities',
    [chunk({ content: 'Hello there' }, { logprobs: { content: [probability] } }), end()],
    { says: [{ text: 'Hello there', logprobs: [probability] }] },
  ],
  [
    'the probability of a token, without those of others',
    [chunk({ content: 'Hello there' }, { logprobs: { content: [{ token: 'Hello there', logprob: -0.1 }] } }), end()],
    { says: [{ text: 'Hello there', logprobs: [probability] }] },
  ],
  [
    'token probabilities that are null or empty',
    [
      chunk({ content: 'Hello' }, { logprobs: null }),
      chunk({ content: ' there' }, { logprobs: { content: [] } }),
      end('stop', { logprobs: { content: null } }),
    ],
  ],
]);

const reasonsFirst = [{ reasoning: 'Hm.' }, ...hello];

/** Answers with reasoning before or between texts. */
export const reasoning = cases(reasonsFirst, [
  ['reasoning_content', [role, think('H'), think('m.'), say('Hello there'), end(), counted]],
  [
    'reasoning_details',
    [
      chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'H', index: 0 }] }),
      chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'm.', index: 0 }] }),
      say('Hello there'),
      end(),
    ],
  ],
  [
    'reasoning_details that are a summary',
    [chunk({ reasoning_details: [{ type: 'reasoning.summary', summary: 'Hm.' }] }), say('Hello there'), end()],
  ],
  [
    'reasoning twice in each chunk',
    ['H', 'm.']
      .map((text) => chunk({ content: '', reasoning: text, reasoning_details: [{ type: 'reasoning.text', text }] }))
      .concat(say('Hello there'), end()),
  ],
  [
    'reasoning that is encrypted',
    [chunk({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'abc' }] }), say('Hello there'), end()],
    { says: hello },
  ],
  [
    'null or empty contents beside reasoning',
    [
      chunk({ content: null, reasoning_content: 'H' }),
      chunk({ content: '', reasoning_content: 'm.' }),
      chunk({ content: 'Hello', reasoning_content: null }),
      chunk({ content: ' there', reasoning_content: '' }),
      end(),
    ],
  ],
  ['reasoning and text in one chunk', [chunk({ reasoning_content: 'Hm.', content: 'Hello' }), say(' there'), end()]],
  [
    'reasoning between texts',
    [think('A'), say('b'), think('C'), say('d'), end()],
    { says: [{ reasoning: 'A' }, { text: 'b' }, { reasoning: 'C' }, { text: 'd' }] },
  ],
  [
    'reasoning in parts of the content',
    [
      chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] }),
      chunk({ content: [{ type: 'text', text: 'Hello there' }] }),
      end(),
    ],
  ],
]);
