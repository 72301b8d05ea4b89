import { describe, expect, test } from '@jest/globals';
import { readEvents } from '../../../support/client-view.ts';
import { rewriteStream } from '../../../support/rewrite.ts';
import { toWire } from '../../../support/speech/teller.ts';
import { chat } from '../../../support/stream-events.ts';
import { testRows } from '../../../support/test-rows.ts';
import { upstreamIdentity } from '../../../support/upstream-identity.ts';

const { textModel, host, names } = upstreamIdentity;
const hidden = [textModel, host, ...names];

/** What a client reads of a choice in these pieces. */
function hear(...choices: readonly object[]): Record<string, unknown>[] {
  const events = choices.map((choice) => ({
    data: { id: 'x', model: 'm', choices: [{ index: 0, finish_reason: null, ...choice }] },
  }));
  const { output } = rewriteStream(chat, toWire(events));
  return readEvents(output).map(({ value }) => Object(value).choices[0]);
}

testRows(['note', 'logprobs', 'response.output_text'])(
  'where names stay in what the model writes, a string of a vendor’s own hides them, whatever it is called',
  (own) => {
    const delta = { content: 'I am Thunder.', [own]: 'served by Thunder.' };
    const { output } = rewriteStream(
      chat,
      toWire([{ data: { choices: [{ index: 0, delta }] } }]),
      [],
      {},
      {
        showsGenerated: true,
      },
    );
    const [event] = readEvents(output).map(({ value }) => Object(value).choices[0].delta);
    expect(event).toEqual({ content: 'I am Thunder.', [own]: 'served by svc.' });
  },
);

const deltas = (...all: readonly object[]) => hear(...all.map((delta) => ({ delta }))).map(({ delta }) => delta);
const finish = { delta: {}, finish_reason: 'stop' };

/** Each name, split in two at every offset. */
function* halves(): Generator<[string, string]> {
  for (const name of hidden) {
    for (let cut = 1; cut < name.length; cut += 1) yield [name.slice(0, cut), name.slice(cut)];
  }
}

describe.each<[string, (text: string) => object, (choice: object) => unknown]>([
  ['a delta', (content) => ({ delta: { content } }), (choice) => Object(choice).delta?.content],
  [
    'a message beside an empty delta',
    (reasoning) => ({ delta: { content: '' }, message: { reasoning } }),
    (choice) => Object(choice).message?.reasoning,
  ],
  ['a completion', (text) => ({ text }), (choice) => Object(choice).text],
])('the text of %s', (_, choice, textIn) => {
  const joined = (choices: readonly object[]) => choices.map((one) => textIn(one) ?? '').join('');

  test('shows no part of a split name', () => {
    for (const [first, second] of halves()) {
      expect([first, joined(hear(choice(`Who? ${first}`), choice(`${second}.`), finish))]).toEqual([
        first,
        'Who? svc.',
      ]);
    }
  });

  test('is complete if it only looks like the beginning of a name', () => {
    expect(joined(hear(choice('by Thun'), finish))).toBe('by Thun');
    expect(joined(hear(choice('by Thun'), choice('ology'), finish))).toBe('by Thunology');
    expect(joined(hear(choice('by Thun')))).toBe('by Thun');
  });
});

describe('text in several places of a choice', () => {
  test('releases held back reasoning before other text', () => {
    expect(deltas({ reasoning: 'by Thun' }, { content: 'I' }, { reasoning: 'der' })).toEqual([
      { reasoning: 'by ' },
      { reasoning: 'Thun' },
      { content: 'I' },
      { reasoning: 'svc' },
    ]);
  });

  test('releases held back content before a call, or at the end', () => {
    const call = { tool_calls: [{ index: 0, function: { name: 'f', arguments: '' } }] };
    expect(deltas({ content: 'by Thun' }, { reasoning: 'Hm.' }, call).slice(1)).toEqual([
      { reasoning: 'Hm.' },
      { content: 'Thun' },
      call,
    ]);
    const ended = hear({ delta: { content: 'by Thun' } }, { delta: { reasoning: 'Hm.' } }, finish);
    expect(ended.map(({ delta }) => delta).slice(1)).toEqual([{ reasoning: 'Hm.' }, { content: 'Thun' }, {}]);
  });

  test('is repeated whole in a message beside each delta', () => {
    const said = ['I am Thun', 'I am Thunder', 'I am Thunder.'];
    const heard = hear(
      ...['I am Thun', 'der', '.'].map((content, at) => ({ delta: { content }, message: { content: said[at] } })),
      { ...finish, message: { content: 'I am Thunder.' } },
    );
    expect(heard.map(({ message }) => Object(message).content)).toEqual([
      'I am Thun',
      'I am svc',
      'I am svc.',
      'I am svc.',
    ]);
  });
});

describe('what clients read as one text', () => {
  const thinking = (text: string) => ({ content: [{ type: 'thinking', thinking: text }] });
  testRows<[object[], object[]]>([
    [
      [{ reasoning_content: 'by Thun' }, { reasoning: 'der.' }],
      [{ reasoning_content: 'by ' }, { reasoning_content: 'Thun' }, { reasoning: 'svc.' }],
    ],
    [
      [{ reasoning: 'by Thun' }, thinking('der.')],
      [{ reasoning: 'by ' }, { reasoning: 'Thun' }, thinking('svc.')],
    ],
    [
      [{ content: 'by Thun' }, { refusal: 'der.' }],
      [{ content: 'by ' }, { content: 'Thun' }, { refusal: 'svc.' }],
    ],
  ])('shows no name, even if its pieces come in several members', (pieces, expected) => {
    expect(deltas(...pieces)).toEqual(expected);
  });
});

test('a single call without a list arrives unchanged, after the text before it', () => {
  const call = { tool_calls: { index: 0, id: 'a', function: { name: 'acmecorp', arguments: '{"by":"Thun' } } };
  const rest = { tool_calls: { index: 0, function: { arguments: 'der"}' } } };
  expect(deltas({ content: 'by Thun' }, call, rest)).toEqual([{ content: 'by ' }, { content: 'Thun' }, call, rest]);
});

describe('every string of a delta', () => {
  const finished = (...all: readonly object[]) =>
    hear(...all.map((delta) => ({ delta })), finish).map(({ delta }) => Object(delta));
  const call = (rest: object) => ({ tool_calls: [{ index: 0, function: { arguments: 'acme' }, ...rest }] });
  type Way = readonly [string, (text: string) => object, (delta: Record<string, unknown>) => unknown];

  testRows<Way>([
    [
      'in blocks of an unknown member',
      (thinking) => ({ provider_specific_fields: { thinking_blocks: [{ type: 'thinking', thinking }] } }),
      ({ provider_specific_fields: fields }) => Object(fields).thinking_blocks?.[0].thinking,
    ],
    ['in a list', (text) => ({ notes: [text] }), ({ notes }) => Object(notes)[0]],
    [
      'deeply nested',
      (z) => ({ a: { b: [{ c: { d: [[{ e: { z } }]] } }] } }),
      ({ a }) => Object(a).b?.[0].c.d[0][0].e.z,
    ],
    ['under names with slashes and none', (text) => ({ 'a/~b': { '': text } }), (delta) => Object(delta['a/~b'])['']],
    ['beside a call', (note) => call({ extra: { note } }), ({ tool_calls: calls }) => Object(calls)[0]?.extra?.note],
  ])('is text wherever it stands', (_name, say, textIn) => {
    const joined = (...pieces: string[]) =>
      finished(...pieces.map(say))
        .map((delta) => textIn(delta) ?? '')
        .join('');
    expect(joined('I am Thun', 'der.')).toMatch(/^I am (Thun)?svc\.$/);
    expect(joined('I am Thun', 'ology.')).toBe('I am Thunology.');
    expect(joined('I am Thun')).toBe('I am Thun');
  });

  test('but not tool arguments, nor what arrives whole', () => {
    const annotations = [{ type: 'url_citation', url_citation: { title: 'By Thun', url: 'https://a' } }];
    const delta = { annotations, ...call({ signature: 'acme', extra: { encrypted_content: 'acme' } }) };
    expect(deltas(delta, delta)).toEqual([delta, delta]);
    const dropped = { x_note: { text: 'Thun' }, provider: 'Thun' };
    expect(finished(dropped, dropped)).toEqual([{}, {}, {}]);
  });
});

test('labels and binary data are not text: they arrive and leave whole', () => {
  const delta = {
    ...{ role: 'assistant', type: 'delta', id: 't', name: 'bot', status: 'at', channel: 'commentary a', phase: 'a' },
    ...{ tool_call_id: 't', created_at: 't', media_type: 'x/t', image_url: 'https://a', b64_json: 'a' },
    ...{ picture: 'data:image/png;base64,t' },
  };
  expect(deltas(delta, delta)).toEqual([delta, delta]);
});

test('content that only the upstream can read is not text', () => {
  const delta = { reasoning_opaque: 'acme+', reasoning_encrypted: 'acme', reasoning_signature: 'acme' };
  expect(deltas(delta)).toEqual([delta]);
});
