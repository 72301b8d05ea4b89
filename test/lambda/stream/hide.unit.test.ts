import { describe, expect, test } from '@jest/globals';
import { createMessages } from '../../../lambda/dialects/messages.ts';
import { createStreamRewriter } from '../../../lambda/stream/rewrite-stream.ts';
import { readEvents } from '../../support/client-view.ts';
import { formatOf, hiding, rewriteAnswer, rewriteStream } from '../../support/rewrite.ts';
import { toWire } from '../../support/speech/teller.ts';
import { block, chat, chunk, deltasOf, messages, responses, started, stopped } from '../../support/stream-events.ts';
import { testRows } from '../../support/test-rows.ts';

describe('what passes untouched', () => {
  // A pattern of words would find a name in each of these.
  const base64 = `AAAA/acme/+AcmeCorp+Thunder/${'A'.repeat(40)}==`;
  const url = `data:image/png;base64,${base64}`;

  test('images and sound, as a part of a message and as bytes', () => {
    const delta = {
      images: [{ type: 'image_url', image_url: { url } }, { b64_json: base64 }],
      audio: { data: base64, transcript: 'AcmeCorp.' },
    };
    const { output } = rewriteStream(chat, toWire([chunk(delta)]));
    expect(deltasOf(output)[0]).toEqual({ ...delta, audio: { data: base64, transcript: 'svc.' } });
    const partial = {
      type: 'response.image_generation_call.partial_image',
      partial_image_b64: base64,
      note: 'Thunder',
    };
    const drawn = rewriteStream(responses, toWire([{ data: { ...partial, sequence_number: 0 } }])).output;
    expect(readEvents(drawn)[0]?.value).toMatchObject({ partial_image_b64: base64, note: 'svc' });
    const item = { type: 'image_generation_call', result: base64, revised_prompt: 'An AcmeCorp' };
    const done = { type: 'response.output_item.done', output_index: 0, item };
    const itemDone = readEvents(rewriteStream(responses, toWire([{ data: done }])).output)[0]?.value;
    expect(itemDone).toMatchObject({ item: { ...item, revised_prompt: 'An svc' } });
  });

  test('but a text that only begins like an image is a text', () => {
    const url = 'data:text/plain;base64,AcmeCorp is here';
    const { output } = rewriteStream(chat, toWire([chunk({ images: [{ image_url: { url } }] })]));
    expect(output).not.toMatch(/acme/i);
  });

  test('but not the media type of a data URL, nor its parameters', () => {
    const given = [`data:application/x-AcmeCorp;base64,${base64}`, `data:image/png;name=thunder.png;base64,${base64}`];
    const images = given.map((one) => ({ image_url: { url: one } }));
    const { output } = rewriteStream(chat, toWire([chunk({ images })]));
    const shown = [`data:application/x-svc;base64,${base64}`, `data:image/png;name=svc.png;base64,${base64}`];
    expect(deltasOf(output)).toEqual([{ images: shown.map((one) => ({ image_url: { url: one } })) }]);
  });

  test('but not a text under a key that is like one for bytes', () => {
    const details = { b64_note: 'AcmeCorp', lib64: 'Thunder', b64_json: 'by AcmeCorp!', image_b64: ['AcmeCorp'] };
    const { output } = rewriteStream(chat, toWire([{ data: { choices: [], details } }]));
    expect(readEvents(output)[0]?.value).toEqual({
      choices: [],
      details: { b64_note: 'svc', lib64: 'svc', b64_json: 'by svc!', image_b64: ['svc'] },
    });
    const bytes = { b64_json: base64, image_b64: base64, b64_note: base64 };
    const same = rewriteStream(chat, toWire([{ data: { choices: [], details: bytes } }]));
    expect(Object(readEvents(same.output)[0]?.value).details).toMatchObject({ b64_json: base64, image_b64: base64 });
    expect(Object(readEvents(same.output)[0]?.value).details.b64_note).not.toMatch(/acme/i);
  });

  test('signatures under any name, at any depth', () => {
    const call = {
      function: { name: 'acme', arguments: '{"acme":1}' },
      extra: { google: { thought_signature: 'acme' } },
    };
    const details = [{ index: 0, signature: 'acme', text: 'acme', encrypted_content: 'acme' }];
    const delta = { tool_calls: [call], reasoning_details: details, reasoning_signature: 'acme', note: 'acme' };
    const { output } = rewriteStream(chat, toWire([chunk(delta), chunk({}, { finish_reason: 'stop' })]));
    expect(deltasOf(output)[0]).toEqual({ ...delta, reasoning_details: [{ ...details[0], text: 'svc' }], note: 'svc' });
  });

  test('code, commands and calls of hosted tools, and the names of the tools that a caller declared', () => {
    const output = [
      { type: 'code_interpreter_call', code: 'acme()', outputs: [{ logs: 'acme' }] },
      { type: 'computer_call', action: { type: 'type', text: 'acme' } },
      { type: 'shell_call', action: { commands: ['acme'] } },
      { type: 'mcp_call', name: 'acme', arguments: 'acme', output: 'acme' },
      { type: 'apply_patch_call', operation: { diff: 'acme' } },
      { type: 'web_search_call', action: { query: 'acme' } },
      { type: 'reasoning', encrypted_content: 'acme', summary: [] },
    ];
    const answer = {
      status: 'completed',
      tools: [{ name: 'acme', description: 'acme' }],
      tool_choice: { name: 'acme' },
      output,
    };
    const rewritten = rewriteAnswer(responses, answer);
    expect(JSON.parse('text' in rewritten ? rewritten.text : '')).toEqual({
      ...answer,
      tools: [{ name: 'acme', description: 'svc' }],
      output: [
        { ...output[0], outputs: [{ logs: 'svc' }] },
        output[1],
        output[2],
        { ...output[3], output: 'svc' },
        output[4],
        { ...output[5], action: { query: 'svc' } },
        output[6],
      ],
    });
  });

  test('files in messages, but not a text that stands in their place', () => {
    const source = (type: string) => ({ type: 'document', source: { type, data: 'acme' } });
    const content = [{ type: 'web_fetch_tool_result', content: [source('base64'), source('text')] }];
    const rewritten = rewriteAnswer(messages, { content });
    const [, text] = 'text' in rewritten ? JSON.parse(rewritten.text).content[0].content : [];
    expect(rewritten).toHaveProperty('text', expect.stringContaining('"data":"acme"'));
    expect(text.source).toEqual({ type: 'text', data: 'svc' });
  });

  test('signed thinking, where the upstream checks it', () => {
    const signing = createMessages({ signsThinking: true });
    const bytes = toWire([started, block({ type: 'thinking_delta', thinking: 'I am Acme' }), stopped]);
    const rewriter = createStreamRewriter(formatOf(signing), hiding, { input: undefined, output: undefined });
    expect(rewriter.push(bytes)).toContain('"thinking":"I am Acme"');
  });
});

describe('the text at which the caller asked to stop', () => {
  const expected = { stops: new Set(['AcmeCorp:', '\n\nThunder']) };
  const textOf = (rewritten: ReturnType<typeof rewriteAnswer>) => ('text' in rewritten ? rewritten.text : '');

  testRows([
    ['AcmeCorp:', 'AcmeCorp:'],
    ['\n\nThunder', '\n\nThunder'],
    ['Thunder', 'svc'],
    ['acmecorp:', 'svc:'],
    [null, null],
  ])('comes back as it was asked for', (given, shown) => {
    const stop = { stop_reason: 'stop_sequence', stop_sequence: given };
    expect(JSON.parse(textOf(rewriteAnswer(messages, { content: [], ...stop }, expected)))).toMatchObject({
      stop_sequence: shown,
    });
    const delta = { type: 'message_delta', delta: stop };
    const streamed = rewriteStream(messages, toWire([started, { data: delta }]), [], expected).output;
    expect(deltasOf(streamed)[1]).toEqual({ ...stop, stop_sequence: shown });
    // Some servers of the chat dialect say it in members of their own.
    const choice = { index: 0, finish_reason: 'stop', stop_reason: given, matched_stop: given };
    const chosen = { ...choice, stop_reason: shown, matched_stop: shown };
    expect(JSON.parse(textOf(rewriteAnswer(chat, { choices: [choice] }, expected))).choices).toEqual([chosen]);
    const { output } = rewriteStream(chat, toWire([{ data: { choices: [choice] } }]), [], expected);
    expect(Object(readEvents(output)[0]?.value).choices).toEqual([chosen]);
  });

  test('is revealed nowhere else', () => {
    const content = [{ type: 'text', text: 'AcmeCorp:', stop_sequence: 'AcmeCorp:' }];
    const text = textOf(rewriteAnswer(messages, { content, stop_sequence: 'AcmeCorp:', stop: 'AcmeCorp:' }, expected));
    expect(text.match(/AcmeCorp/g)).toHaveLength(1);
  });
});

describe('token probabilities', () => {
  const logprobs = (token: string) => ({ content: [{ token, logprob: -1, bytes: [...Buffer.from(token)] }] });

  test('become null if the text was changed or a token names someone, and otherwise stay', () => {
    const { output } = rewriteStream(
      chat,
      toWire([
        chunk({ content: 'Hello' }, { logprobs: logprobs('Hello') }),
        chunk({ content: ' from' }, { logprobs: logprobs('Thunder') }),
        chunk({ content: ' Thun' }, { logprobs: logprobs(' Thun') }),
        chunk({ content: 'der' }, { logprobs: logprobs('der') }),
        chunk({ content: '!' }, { logprobs: logprobs('!') }),
      ]),
    );
    const kept = readEvents(output).map(({ value }) => Object(value).choices[0].logprobs);
    expect(kept).toEqual([logprobs('Hello'), null, null, null, logprobs('!')]);
  });

  const list = (...tokens: string[]) => ({ content: tokens.flatMap((token) => logprobs(token).content) });
  const logprobsOf = (output: string) => readEvents(output).map(({ value }) => Object(value).choices[0].logprobs);

  testRows<[string, object, object, unknown[]]>([
    ['without their text', list('Thun'), list('der'), [null, null]],
    ['in one event', list('Hi', ' Thun', 'der', '!'), list('.'), [null, list('.')]],
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
    // They come with no text of the choice, as those of a tool call do.
    const events = [first, second].map((one) => chunk({ content: null }, { logprobs: one }));
    expect(logprobsOf(rewriteStream(chat, toWire(events)).output)).toEqual(kept);
  });

  test('of a plain answer, and of a whole text, tell no name either', () => {
    const call = { content: null, tool_calls: [{ function: { name: 'acme', arguments: '{}' } }] };
    const answer = { choices: [{ index: 0, message: call, logprobs: list('ac', 'me') }] };
    const rewritten = rewriteAnswer(chat, answer);
    expect(JSON.parse('text' in rewritten ? rewritten.text : '').choices).toEqual([
      { index: 0, message: call, logprobs: null },
    ]);
    const [begun, end] = [list('Hi', '.').content, list('Thun', 'der').content];
    const place = { output_index: 0, content_index: 0 };
    const done = (text: string, all: unknown) => ({
      data: { type: 'response.output_text.done', ...place, text, logprobs: all },
    });
    const delta = { data: { type: 'response.output_text.delta', ...place, delta: 'Hi', logprobs: end } };
    const { output } = rewriteStream(responses, toWire([delta, done('Hi.', begun), done('Hi', end)]));
    expect(readEvents(output).map(({ value }) => Object(value).logprobs)).toEqual([null, begun, null]);
  });

  test('that are missing stay missing', () => {
    const event = {
      type: 'response.output_text.delta',
      output_index: 0,
      content_index: 0,
      delta: 'Acme',
      logprobs: [],
    };
    const { output } = rewriteStream(responses, toWire([{ data: event }]));
    expect(readEvents(output).map(({ value }) => Object(value).logprobs)).toEqual([[], []]);
  });
});

describe('the frame around the texts', () => {
  const events = [
    [chat, { choices: [] }],
    [responses, { type: 'response.custom' }],
    [messages, { type: 'custom' }],
  ] as const;

  testRows(events)('has the public model and no provider, in events of any kind', (dialect, rest) => {
    const named = {
      ...rest,
      model: 'unlisted-3',
      provider: 'Unlisted',
      system_fingerprint: 'fp',
      x_unlisted: {},
      xy: 1,
    };
    const { output } = rewriteStream(dialect, toWire([{ data: named }]));
    expect(readEvents(output)[0]?.value).toEqual({ ...rest, model: 'svc', xy: 1 });
  });

  testRows<unknown>([{ id: 'unlisted-3', by: 'AcmeCorp' }, ['unlisted-3'], 3, true, null])(
    'has the public model whatever stood there',
    (model) => {
      const answer = { id: 'x', model, choices: [{ index: 0, message: { content: 'Hi.' } }] };
      const rewritten = rewriteAnswer(chat, answer);
      expect(JSON.parse('text' in rewritten ? rewritten.text : '')).toEqual({ ...answer, model: 'svc' });
      for (const [dialect, rest] of events) {
        const { output } = rewriteStream(dialect, toWire([{ data: { ...rest, model } }]));
        expect(readEvents(output)[0]?.value).toEqual({ ...rest, model: 'svc' });
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
