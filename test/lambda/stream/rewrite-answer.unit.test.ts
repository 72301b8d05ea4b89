import { describe, expect, jest, test } from '@jest/globals';
import { createStreamRewriter } from '../../../lambda/stream/rewrite-stream.ts';
import { readEvents } from '../../support/client-view.ts';
import { answerOf, formatOf, hiding, rewriteStream, scrubber } from '../../support/rewrite.ts';
import { toWire } from '../../support/speech/teller.ts';
import {
  block,
  chat,
  chunk,
  hear,
  hearDeltas,
  messages,
  responses,
  started,
  stopped,
} from '../../support/stream-events.ts';
import { testRows } from '../../support/test-rows.ts';

test('in one answer a hundred thousand names are hidden, and no more', () => {
  const answer = (names: number) => answerOf(chat, { notes: Array(names).fill('AcmeCorp') });
  expect(new Set(answer(100_000).notes)).toEqual(new Set(['svc']));
  expect(() => answer(100_001)).toThrow('more than 100000 things to hide at a time');
});

test('only texts that a client may join are searched across, so that a first answer need not wait for that pattern to compile', () => {
  const openChannel = jest.fn(scrubber.openChannel);
  const shown = (content: readonly object[]) => {
    const other = { scrubber: { ...scrubber, openChannel } };
    return answerOf(messages, { type: 'message', content }, {}, other).content;
  };
  const reasoningBlock = { type: 'thinking', thinking: 'Of AcmeCorp.' };
  const [begun, ended] = ['Thun', 'der'].map((text) => ({ type: 'text', text }));
  expect(shown([reasoningBlock, begun ?? {}])).toEqual([{ ...reasoningBlock, thinking: 'Of svc.' }, begun]);
  expect(openChannel).not.toHaveBeenCalled();
  expect(shown([begun ?? {}, ended ?? {}])).toEqual([begun, { ...ended, text: 'svc' }]);
  expect(openChannel).toHaveBeenCalledTimes(2);
});

describe('what passes through untouched', () => {
  // A search for words would find a name in each of these.
  const base64 = `AAAA/acme/+AcmeCorp+Thunder/${'A'.repeat(40)}==`;
  const url = `data:image/png;base64,${base64}`;

  test('images and audio, as a part of a message and as bytes', () => {
    const delta = {
      images: [{ type: 'image_url', image_url: { url } }, { b64_json: base64 }],
      audio: { data: base64, transcript: 'AcmeCorp.' },
    };
    expect(hearDeltas(chat, [chunk(delta)])[0]).toEqual({ ...delta, audio: { data: base64, transcript: 'svc.' } });
    const partial = {
      type: 'response.image_generation_call.partial_image',
      partial_image_b64: base64,
      note: 'Thunder',
    };
    const [drawn] = hear(responses, [{ data: { ...partial, sequence_number: 0 } }]);
    expect(drawn).toMatchObject({ partial_image_b64: base64, note: 'svc' });
    const item = { type: 'image_generation_call', result: base64, revised_prompt: 'An AcmeCorp' };
    const done = { type: 'response.output_item.done', output_index: 0, item };
    const [itemDone] = hear(responses, [{ data: done }]);
    expect(itemDone).toMatchObject({ item: { ...item, revised_prompt: 'An svc' } });
  });

  test('but a text that only begins like an image counts as text', () => {
    const url = 'data:text/plain;base64,AcmeCorp is here';
    expect(JSON.stringify(hear(chat, [chunk({ images: [{ image_url: { url } }] })]))).not.toMatch(/acme/i);
  });

  test('but not the media type of a data URL, nor its parameters', () => {
    const given = [`data:application/x-AcmeCorp;base64,${base64}`, `data:image/png;name=thunder.png;base64,${base64}`];
    const images = given.map((one) => ({ image_url: { url: one } }));
    const shown = [`data:application/x-svc;base64,${base64}`, `data:image/png;name=svc.png;base64,${base64}`];
    expect(hearDeltas(chat, [chunk({ images })])).toEqual([
      { images: shown.map((one) => ({ image_url: { url: one } })) },
    ]);
  });

  test('but not a text under a key that looks like one for bytes', () => {
    const details = { b64_note: 'AcmeCorp', lib64: 'Thunder', b64_json: 'by AcmeCorp!', image_b64: ['AcmeCorp'] };
    const shown = { b64_note: 'svc', lib64: 'svc', b64_json: 'by svc!', image_b64: ['svc'] };
    expect(hear(chat, [{ data: { choices: [], details } }])).toEqual([{ model: 'svc', choices: [], details: shown }]);
    const bytes = { b64_json: base64, image_b64: base64, b64_note: base64 };
    const [same] = hear(chat, [{ data: { choices: [], details: bytes } }]);
    expect(same.details).toEqual({ ...bytes, b64_note: expect.not.stringMatching(/acme/i) });
  });

  test('signatures under any name, at any depth', () => {
    const call = {
      function: { name: 'acme', arguments: '{"acme":1}' },
      extra: { google: { thought_signature: 'acme' } },
    };
    const details = [{ index: 0, signature: 'acme', text: 'acme', encrypted_content: 'acme' }];
    const delta = { tool_calls: [call], reasoning_details: details, reasoning_signature: 'acme', note: 'acme' };
    expect(hearDeltas(chat, [chunk(delta), chunk({}, { finish_reason: 'stop' })])[0]).toEqual({
      ...delta,
      reasoning_details: [{ ...details[0], text: 'svc' }],
      note: 'svc',
    });
  });

  test('code, commands and calls of hosted tools, and the names of tools that the caller declared', () => {
    const output = [
      { type: 'code_interpreter_call', code: 'acme()', outputs: [{ logs: 'acme' }] },
      { type: 'computer_call', action: { type: 'type', text: 'acme' } },
      { type: 'shell_call', action: { commands: ['acme'] } },
      { type: 'mcp_call', name: 'acme', arguments: 'acme', output: 'acme' },
      { type: 'apply_patch_call', operation: { diff: 'acme' } },
      { type: 'web_search_call', action: { query: 'acme' } },
      { type: 'reasoning', encrypted_content: 'acme', summary: [] },
      { type: 'function_call', namespace: 'acme', name: 'acme', arguments: 'acme' },
      { type: 'tool_search_output', tools: [{ name: 'acme', description: 'acme' }] },
      { type: 'mcp_list_tools', server_label: 'acme', tools: [{ name: 'acme', description: 'acme' }] },
      { type: 'mcp_approval_request', server_label: 'acme', name: 'acme', arguments: 'acme' },
    ];
    const answer = {
      status: 'completed',
      tools: [{ name: 'acme', description: 'acme' }],
      tool_choice: { name: 'acme' },
      output,
    };
    expect(answerOf(responses, answer)).toEqual({
      ...answer,
      tools: [{ name: 'acme', description: 'svc' }],
      output: [
        { ...output[0], outputs: [{ logs: 'svc' }] },
        output[1],
        output[2],
        { ...output[3], output: 'svc' },
        output[4],
        { ...output[5], action: { query: 'svc' } },
        ...output.slice(6),
      ],
    });
  });

  test('files in messages, but not a text in their place', () => {
    const source = (type: string) => ({ type: 'document', source: { type, data: 'acme' } });
    const content = [{ type: 'web_fetch_tool_result', content: [source('base64'), source('text')] }];
    const [file, text] = answerOf(messages, { content }).content[0].content;
    expect([file, text.source]).toEqual([source('base64'), { type: 'text', data: 'svc' }]);
  });

  test('in messages, the names of tools that a search found, and of the server whose tool is called', () => {
    const references = [{ type: 'tool_reference', tool_name: 'acme' }];
    const content = [
      { type: 'mcp_tool_use', name: 'acme', server_name: 'acme', input: {} },
      {
        type: 'tool_search_tool_result',
        content: { type: 'tool_search_tool_search_result', tool_references: references },
      },
    ];
    expect(answerOf(messages, { content }).content).toEqual(content);
  });

  test('signed thinking, where the upstream checks it', () => {
    const bytes = toWire([started, block({ type: 'thinking_delta', thinking: 'I am Acme' }), stopped]);
    const rewriter = createStreamRewriter(formatOf(messages, { signedReasoning: 'shown' }), hiding, {
      input: undefined,
      output: undefined,
    });
    expect(rewriter.push(bytes)).toContain('"thinking":"I am Acme"');
  });
});

describe('the text at which the caller asked to stop', () => {
  const expected = { stops: new Set(['AcmeCorp:', '\n\nThunder']) };

  testRows([
    ['AcmeCorp:', 'AcmeCorp:'],
    ['\n\nThunder', '\n\nThunder'],
    ['Thunder', 'svc'],
    ['acmecorp:', 'svc:'],
    [null, null],
  ])('comes back as it was asked for', (given, shown) => {
    const stop = { stop_reason: 'stop_sequence', stop_sequence: given };
    expect(answerOf(messages, { content: [], ...stop }, expected)).toMatchObject({ stop_sequence: shown });
    const delta = { type: 'message_delta', delta: stop };
    expect(hearDeltas(messages, [started, { data: delta }], expected)[1]).toEqual({ ...stop, stop_sequence: shown });
    // Some chat servers send it in members of their own.
    const choice = { index: 0, finish_reason: 'stop', stop_reason: given, matched_stop: given };
    const chosen = { ...choice, stop_reason: shown, matched_stop: shown };
    expect(answerOf(chat, { choices: [choice] }, expected).choices).toEqual([chosen]);
    expect(hear(chat, [{ data: { choices: [choice] } }], expected)[0].choices).toEqual([chosen]);
  });
});

describe('token probabilities', () => {
  const logprobs = (token: string) => ({ content: [{ token, logprob: -1, bytes: [...Buffer.from(token)] }] });

  test('become null if the text was changed or a token spells a name, and stay otherwise', () => {
    const kept = hear(chat, [
      chunk({ content: 'Hello' }, { logprobs: logprobs('Hello') }),
      chunk({ content: ' from' }, { logprobs: logprobs('Thunder') }),
      chunk({ content: ' Thun' }, { logprobs: logprobs(' Thun') }),
      chunk({ content: 'der' }, { logprobs: logprobs('der') }),
      chunk({ content: '!' }, { logprobs: logprobs('!') }),
    ]).map((value) => value.choices[0].logprobs);
    expect(kept).toEqual([logprobs('Hello'), null, null, null, logprobs('!')]);
  });

  const list = (...tokens: string[]) => ({ content: tokens.flatMap((token) => logprobs(token).content) });

  testRows<[string, object, object, unknown[]]>([
    ['without their text', list('Thun'), list('der'), [null, null]],
    ['in one event', list('Hi', ' Thun', 'der', '!'), list('.'), [null, list('.')]],
    [
      'amid other values',
      { content: [{ token: 'Thun', text: 'x' }, { token: null }, { token: 'der' }] },
      list('.'),
      [null, list('.')],
    ],
    ['in the older form', { tokens: ['Ac'], text_offset: [0] }, { tokens: ['me'] }, [null, null]],
    ['of a refusal', { content: null, refusal: list('Thun').content }, { refusal: list('der').content }, [null, null]],
    [
      'as what else might have been said',
      { content: [{ token: 'Hi', top_logprobs: [{ token: 'Thunder', bytes: [84] }] }] },
      { content: [{ token: '.', top_logprobs: [{ token: 'Thun' }, { token: 'der' }] }] },
      [null, { content: [{ token: '.', top_logprobs: [{ token: 'Thun' }, { token: 'der' }] }] }],
    ],
    ['of no name', list('thun', 'ology'), list(' in', ' June'), [list('thun', 'ology'), list(' in', ' June')]],
  ])('that spell a name are dropped', (_name, first, second, kept) => {
    // They come without a text of the choice, like those of a tool call.
    const events = [first, second].map((one) => chunk({ content: null }, { logprobs: one }));
    expect(hear(chat, events).map(({ choices: [choice] }) => choice.logprobs)).toEqual(kept);
  });

  test('of a whole answer, and of a whole text in a stream, spell no name either', () => {
    const call = { content: null, tool_calls: [{ function: { name: 'acme', arguments: '{}' } }] };
    const choice = { index: 0, message: call, logprobs: list('ac', 'me') };
    expect(answerOf(chat, { choices: [choice] }).choices).toEqual([{ ...choice, logprobs: null }]);
    const [begun, end] = [list('Hi', '.').content, list('Thun', 'der').content];
    const place = { output_index: 0, content_index: 0 };
    const done = (text: string, all: unknown) => ({
      data: { type: 'response.output_text.done', ...place, text, logprobs: all },
    });
    const delta = { data: { type: 'response.output_text.delta', ...place, delta: 'Hi', logprobs: end } };
    expect(hear(responses, [delta, done('Hi.', begun), done('Hi', end)]).map((value) => value.logprobs)).toEqual([
      null,
      begun,
      null,
    ]);
  });

  test('that are missing stay missing', () => {
    const event = {
      type: 'response.output_text.delta',
      output_index: 0,
      content_index: 0,
      delta: 'Acme',
      logprobs: [],
    };
    expect(hear(responses, [{ data: event }]).map((value) => value.logprobs)).toEqual([[], []]);
  });
});

describe('everything around the texts', () => {
  const events = [
    [chat, { choices: [] }],
    [responses, { type: 'response.custom' }],
    [messages, { type: 'custom' }],
  ] as const;

  testRows<unknown>([{ id: 'unlisted-3', by: 'AcmeCorp' }, ['unlisted-3'], 3, true, null])(
    'has the public model whatever stood there',
    (model) => {
      const answer = { id: 'x', model, choices: [{ index: 0, message: { content: 'Hi.' } }] };
      expect(answerOf(chat, answer)).toEqual({ ...answer, model: 'svc' });
      for (const [dialect, rest] of events) {
        expect(hear(dialect, [{ data: { ...rest, model } }])[0]).toEqual({ ...rest, model: 'svc' });
      }
    },
  );

  test('hides names spelt with escapes, in keys and values', () => {
    const bytes = Buffer.from(
      'data: {"id":"\\u0041cmeCorp-1","\\u0041cmeCorp":1,"\\u006dodel":"unlisted","\\u0070rovider":"x","choices":[]}\n\n',
    );
    expect(readEvents(rewriteStream(chat, bytes).output)[0]?.value).toEqual({
      id: 'svc-1',
      svc: 1,
      model: 'svc',
      choices: [],
    });
  });

  test('hides names in the type and the id of an event', () => {
    const bytes = Buffer.from('event: acme.custom\nid: Thunder-1\ndata: {"type":"custom"}\n\n');
    expect(rewriteStream(messages, bytes).output).toBe('event: svc.custom\nid: svc-1\ndata: {"type":"custom"}\n\n');
  });
});
