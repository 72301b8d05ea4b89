import { type ChatCase, chunk, counted, end, say, think, tokens, usageOf } from './case.ts';

const role = chunk({ role: 'assistant', content: '' });
const hello = [{ text: 'Hello there' }];

const probability = { token: 'Hello there', logprob: -0.1, bytes: null, top_logprobs: [] };

/** Answers that only say something. */
export const texts: readonly ChatCase[] = [
  { name: 'a text', chunks: [role, say('Hello'), say(' there'), end(), counted], says: hello, usage: tokens },
  {
    name: 'the last piece in the finishing chunk',
    chunks: [say('Hello'), chunk({ content: ' there' }, { finish_reason: 'stop' })],
    says: hello,
  },
  {
    name: 'roles, contents and deltas that are empty or null, and members that nobody knows',
    chunks: [
      chunk({ content: null }),
      chunk({ role: 'assistant', content: 'Hello', audio_tokens: 0 }, { content_filter_results: {} }),
      say(''),
      chunk(null),
      chunk({ role: '', content: ' there', extra: { deep: [1] } }),
      chunk(null, { finish_reason: 'stop', matched_token: 2 }),
    ],
    says: hello,
  },
  {
    name: 'chunks without choices, and choices without an index',
    chunks: [
      { ...chunk({}), choices: [], prompt_filter_results: [{ prompt_index: 0 }] },
      { choices: [{ delta: { content: 'Hello' } }] },
      { id: 'x', object: 'chat.completion.chunk' },
      { ...chunk({}), choices: null },
      {},
      { choices: [{ delta: { content: ' there' }, finish_reason: 'stop' }] },
    ],
    says: hello,
  },
  {
    name: 'pieces in parts',
    chunks: [
      chunk({ content: [{ type: 'text', text: 'Hello' }] }),
      chunk({
        content: [
          { type: 'text', text: ' ' },
          { type: 'text', text: 'there' },
        ],
      }),
      end(),
    ],
    says: hello,
  },
  {
    name: 'pieces under message',
    chunks: [
      { choices: [{ index: 0, message: { content: 'Hello' } }] },
      { choices: [{ index: 0, message: { content: ' there' }, finish_reason: 'stop' }] },
    ],
    says: hello,
  },
  {
    name: 'the whole message once more at the end',
    chunks: [say('Hello'), say(' there'), end('stop', { message: { role: 'assistant', content: 'Hello there' } })],
    says: hello,
  },
  {
    name: 'pieces of a legacy completion',
    chunks: [
      { choices: [{ index: 0, text: 'Hello' }] },
      { choices: [{ index: 0, text: ' there', finish_reason: 'stop' }] },
    ],
    says: hello,
  },
  {
    name: 'quotes, line ends and backslashes',
    chunks: [say('say "hi"\n'), say('C:\\new\t'), say('\r\n\u2028'), end()],
    says: [{ text: 'say "hi"\nC:\\new\t\r\n\u2028' }],
  },
  {
    name: 'a character whose halves come apart, as escapes',
    chunks: [
      'data: {"choices":[{"index":0,"delta":{"content":"\\ud83d"}}]}\n\n',
      'data: {"choices":[{"index":0,"delta":{"content":"\\ude00!"},"finish_reason":"stop"}]}\n\n',
    ],
    says: [{ text: '😀!' }],
  },
  {
    name: 'scripts of the world',
    chunks: ['héllo ', 'мир ', '世界', ' 🇩🇪', ' 👩‍👩‍👧'].map(say).concat(end()),
    says: [{ text: 'héllo мир 世界 🇩🇪 👩‍👩‍👧' }],
  },
  {
    name: 'a text that looks like an event',
    chunks: [say('data: [DONE]\n\nevent: x\n\n'), end()],
    says: [{ text: 'data: [DONE]\n\nevent: x\n\n' }],
  },
  { name: 'white space only', chunks: [say(' '), say('\n'), end()], says: [{ text: ' \n' }] },
  {
    name: 'comments, lines that end in CRLF, an event over several lines and one with a type of its own',
    chunks: [
      ': ping\r\n\r\n',
      `data: ${JSON.stringify(say('Hello'))}\r\n\r\n`,
      ':\r\n\r\n',
      `event: message\ndata: ${JSON.stringify(say(' there'), null, 1).replaceAll('\n', '\ndata: ')}\n\n`,
      `data: ${JSON.stringify(end())}\r\n\r\n`,
    ],
    says: hello,
  },
  {
    name: 'a usage in every chunk',
    chunks: [
      { ...say('Hello'), usage: { ...tokens, completion_tokens: 1 } },
      { ...say(' there'), usage: { ...tokens, completion_tokens: 2 } },
      { ...end(), usage: tokens },
    ],
    says: hello,
    usage: tokens,
  },
  {
    name: 'token probabilities',
    chunks: [chunk({ content: 'Hello there' }, { logprobs: { content: [probability] } }), end()],
    says: [{ text: 'Hello there', logprobs: [probability] }],
  },
  {
    name: 'token probabilities that are null or empty',
    chunks: [
      chunk({ content: 'Hello' }, { logprobs: null }),
      chunk({ content: ' there' }, { logprobs: { content: [] } }),
      end('stop', { logprobs: { content: null } }),
    ],
    says: hello,
  },
];

/** Answers that think first, or again. */
export const thoughts: readonly ChatCase[] = [
  {
    name: 'reasoning_content',
    chunks: [role, think('Let me'), think(' see.'), say('Hello there'), end(), counted],
    says: [{ thought: 'Let me see.' }, ...hello],
    usage: tokens,
  },
  {
    name: 'reasoning',
    chunks: [think('Let me', 'reasoning'), think(' see.', 'reasoning'), say('Hello there'), end()],
    says: [{ thought: 'Let me see.' }, ...hello],
  },
  {
    name: 'reasoning_details',
    chunks: [
      chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'Let me', index: 0 }] }),
      chunk({ reasoning_details: [{ type: 'reasoning.text', text: ' see.', index: 0 }] }),
      say('Hello there'),
      end(),
    ],
    says: [{ thought: 'Let me see.' }, ...hello],
  },
  {
    name: 'reasoning_details that are a summary',
    chunks: [
      chunk({ reasoning_details: [{ type: 'reasoning.summary', summary: 'In short.' }] }),
      say('Hello there'),
      end(),
    ],
    says: [{ thought: 'In short.' }, ...hello],
  },
  {
    name: 'reasoning twice in each chunk',
    chunks: ['Let me', ' see.']
      .map((text) => chunk({ content: '', reasoning: text, reasoning_details: [{ type: 'reasoning.text', text }] }))
      .concat(say('Hello there'), end()),
    says: [{ thought: 'Let me see.' }, ...hello],
  },
  {
    name: 'reasoning that is encrypted',
    chunks: [chunk({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'abc' }] }), say('Hello there'), end()],
    says: hello,
  },
  {
    name: 'null or empty contents beside thoughts',
    chunks: [
      chunk({ content: null, reasoning_content: 'H' }),
      chunk({ content: '', reasoning_content: 'm.' }),
      chunk({ content: 'Hello', reasoning_content: null }),
      chunk({ content: ' there', reasoning_content: '' }),
      end(),
    ],
    says: [{ thought: 'Hm.' }, ...hello],
  },
  {
    name: 'a thought and a text in one chunk',
    chunks: [chunk({ reasoning_content: 'Hm.', content: 'Hello' }), say(' there'), end()],
    says: [{ thought: 'Hm.' }, ...hello],
  },
  { name: 'a thought only', chunks: [think('Hm.'), end(), counted], says: [{ thought: 'Hm.' }], usage: tokens },
  {
    name: 'a thought after the text',
    chunks: [say('Hello there'), think('Was that right?'), end()],
    says: [...hello, { thought: 'Was that right?' }],
  },
  {
    name: 'thoughts between texts',
    chunks: [think('A'), say('b'), think('C'), say('d'), end()],
    says: [{ thought: 'A' }, { text: 'b' }, { thought: 'C' }, { text: 'd' }],
  },
  {
    name: 'thoughts in parts of the content',
    chunks: [
      chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] }),
      chunk({ content: [{ type: 'text', text: 'Hello there' }] }),
      end(),
    ],
    says: [{ thought: 'Hm.' }, ...hello],
  },
  {
    name: 'thoughts of the tokens in the usage',
    chunks: [
      think('Hm.'),
      say('Hello there'),
      end(),
      usageOf({
        ...tokens,
        completion_tokens_details: { reasoning_tokens: 3 },
        prompt_tokens_details: { cached_tokens: 12 },
      }),
    ],
    says: [{ thought: 'Hm.' }, ...hello],
    usage: {
      ...tokens,
      completion_tokens_details: { reasoning_tokens: 3 },
      prompt_tokens_details: { cached_tokens: 12 },
    },
  },
];
