import { describe, expect, test } from '@jest/globals';
import type { Dialect } from '../../../lambda/dialects/dialect.ts';
import type { ExpectedAnswer } from '../../../lambda/dialects/model/expected-answer.ts';
import { createStreamRewriter } from '../../../lambda/stream/rewrite-stream.ts';
import { UpstreamFailure } from '../../../lambda/upstream/failure.ts';
import { readEvents } from '../../support/client-view.ts';
import { formatOf, hiding, rewriteAnswer, rewriteStream } from '../../support/rewrite.ts';
import { toWire } from '../../support/speech/teller.ts';
import { block, chat, chunk, deltasOf, messages, responses, started, stopped } from '../../support/stream-events.ts';
import { testRows } from '../../support/test-rows.ts';

describe('text that is held back', () => {
  test('goes out before the signature of the thinking it belongs to', () => {
    const signature = { type: 'signature_delta', signature: 'acme' };
    const events = [started, block({ type: 'thinking_delta', thinking: 'by Thun' }), block(signature), stopped];
    expect(deltasOf(rewriteStream(messages, toWire(events)).output)).toEqual([
      'message_start',
      { type: 'thinking_delta', thinking: 'by ' },
      { type: 'thinking_delta', thinking: 'Thun' },
      signature,
      'content_block_stop',
    ]);
  });

  test('goes out in a delta of its own kind, also from a block that began with it', () => {
    const begun = { type: 'content_block_start', index: 0, content_block: { type: 'compaction', content: 'Thun' } };
    expect(deltasOf(rewriteStream(messages, toWire([started, { data: begun }, stopped])).output)).toEqual([
      'message_start',
      'content_block_start',
      { type: 'compaction_delta', content: 'Thun' },
      'content_block_stop',
    ]);
    const summary = { output_index: 0, summary_index: 0, part: { type: 'summary_text', text: 'Thun' } };
    const added = { data: { type: 'response.reasoning_summary_part.added', ...summary } };
    const last = readEvents(rewriteStream(responses, toWire([added])).output).at(-1)?.value;
    expect(last).toEqual({
      type: 'response.reasoning_summary_text.delta',
      output_index: 0,
      summary_index: 0,
      delta: 'Thun',
    });
    const place = { item_id: 'i', output_index: 1, content_index: 2 };
    const part = { type: 'response.content_part.added', ...place, part: { type: 'output_text', text: 'Thun' } };
    const { output } = rewriteStream(responses, toWire([{ type: part.type, data: { ...part, sequence_number: 4 } }]));
    expect(readEvents(output)[1]).toMatchObject({
      type: 'response.output_text.delta',
      value: { type: 'response.output_text.delta', ...place, delta: 'Thun', sequence_number: 5 },
    });
  });

  test('goes out in its own place, however deep, without a name around it', () => {
    const shell = (delta: object) => ({ type: 'response.acme.delta', output_index: 0, delta });
    const over = { type: 'response.completed', response: {} };
    const said = shell({ stdout: 'by Thun', acme: [{ index: 3, note: 'Ac' }] });
    const hidden = (delta: object) => ({ ...shell(delta), type: 'response.svc.delta' });
    const heard = readEvents(rewriteStream(responses, toWire([said, over].map((data) => ({ ...data, data })))).output);
    expect(heard.map(({ value }) => value)).toEqual([
      hidden({ stdout: 'by ', svc: [{ index: 3, note: '' }] }),
      hidden({ stdout: 'Thun' }),
      hidden({ svc: [{ index: 3, note: 'Ac' }] }),
      over,
    ]);
    expect(heard.map(({ type }) => type)).toEqual(heard.map(({ value }) => Object(value).type));
    const inside = (note: string) => ({ type: 'note_delta', text: { note } });
    const { output } = rewriteStream(messages, toWire([started, block(inside('by Thun')), stopped]));
    expect(deltasOf(output).slice(1, 3)).toEqual([inside('by '), inside('Thun')]);
  });

  test('fails a stream in which it would turn one long event into many', () => {
    const choices = Array.from({ length: 1_000 }, (_, index) => ({ index, delta: { content: 'Thun' } }));
    const begun = { data: { id: 'x'.repeat(10_000), choices } };
    const end = { data: { choices: choices.map(({ index }) => ({ index, delta: {}, finish_reason: 'stop' })) } };
    const { rewriter, output } = rewriteStream(chat, toWire([begun, end]));
    expect(rewriter.failure).toMatchObject({ kind: 'broken' });
    expect(output.length).toBeLessThan(1_000_000);
  });

  test('also goes out if the stream breaks after its last text', () => {
    const events = [chunk({}, { finish_reason: 'stop' }), chunk({ content: 'by Thun' })];
    const { output, rewriter } = rewriteStream(chat, Buffer.concat([toWire(events), Buffer.from('data: {"id\n\n')]));
    expect(deltasOf(output)).toEqual([{}, { content: 'by ' }, { content: 'Thun' }]);
    expect([rewriter.ended, rewriter.failure]).toEqual([true, undefined]);
  });
});

test('a stream of endlessly many texts fails', () => {
  const notes = Array(1_000).fill('a ');
  const events = Array.from({ length: 21 }, (_, index) => block({ type: 'notes_delta', notes }, index));
  const { rewriter } = rewriteStream(messages, toWire([started, ...events]));
  expect(rewriter.failure).toMatchObject({ kind: 'broken', cause: { message: 'more than 20000 texts in one stream' } });
});

describe('a name that is split around an empty text', () => {
  const call = (content: string) => chunk({ content, tool_calls: [{ index: 0, function: { arguments: '{}' } }] });
  const textBlock = (text: string, index: number) => [
    { data: { type: 'content_block_start', index, content_block: { type: 'text', text: '' } } },
    block({ type: 'text_delta', text }, index),
    { data: { type: 'content_block_stop', index } },
  ];

  testRows([
    ['calls', chat, [chunk({ content: 'I am Acme' }), call(''), call(''), chunk({ content: 'Corp.' })]],
    ['blocks', messages, [started, ...['I am Acme', '', 'Corp.'].flatMap(textBlock)]],
  ])('does not come together', (_name, dialect, events) => {
    const { output } = rewriteStream(dialect, toWire(events));
    expect(output).toContain('svc.');
    expect(output).not.toContain('Corp');
  });

  test('nor of one part that continues after another', () => {
    const notes = [['', 'I am Thun'], ['der']].map((texts) => chunk({ notes: texts }));
    const said = deltasOf(
      rewriteStream(chat, toWire([chunk({ notes: ['x'] }), ...notes, chunk({ notes: ['.'] })])).output,
    );
    expect(said.flatMap(({ notes }) => notes ?? []).join('')).toBe('xI am Thunsvc.');
  });
});

describe('a text that continues after a tool call', () => {
  const call = chunk({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] });
  const said = (...pieces: string[]) => {
    const events = pieces.flatMap((content) => [chunk({ content }), call]);
    return deltasOf(rewriteStream(chat, toWire(events)).output)
      .map(({ content }) => content ?? '')
      .join('');
  };

  test('remembers the letter before it, so that no name is found inside a word', () => {
    expect(said('an x', 'acme')).toBe('an xacme');
    expect(said('an x', '', 'acme')).toBe('an xacme');
    expect(said('an x ', 'acme ')).toBe('an x svc ');
    expect(said('an x', '-acme')).toBe('an x-svc');
  });
});

testRows(['1e999', '1.5'])('an event may have a number that counts nothing', (number) => {
  const event = `data: {"type":"response.output_text.delta","output_index":0,"delta":"by Thun","sequence_number":${number}}\n\n`;
  const end = 'data: {"type":"response.completed","response":{},"sequence_number":1}\n\n';
  const { output, rewriter } = rewriteStream(responses, Buffer.from(event + event + end));
  const raw = readEvents(output).map(({ data }) => /"sequence_number":([^,}]*)/.exec(data)?.[1]);
  expect(raw).toEqual([number, number, '0', '2']);
  expect(rewriter.nextSequence()).toBe(3);
});

describe('an event that matches the template of the previous one', () => {
  const says = (content: string) => toWire([chunk({ content })]);
  const textsOf = (output: string) => deltasOf(output).map(({ content }) => content);

  test('may be split into chunks, and may follow other lines and events', () => {
    const crlf = Buffer.from(says('4').toString().replaceAll('\n', '\r\n'));
    const events = [says('1'), says('2'), toWire([chunk({ role: 'x' })]), says('3'), crlf, says('5'), says('"\\\n é')];
    const bytes = Buffer.concat(events);
    // Each event is cut about once, and at every byte in the end.
    const stride = 150;
    for (let first = 0; first < stride; first += 1) {
      const cuts = [...bytes.keys()].filter((at) => at > 0 && at % stride === first);
      const texts = textsOf(rewriteStream(chat, bytes, cuts).output);
      expect(texts).toEqual(['1', '2', undefined, '3', '4', '5', '"\\\n é']);
    }
  });

  describe('whatever differs besides its text,', () => {
    const usage = (completion_tokens: number, more = {}) => ({
      usage: { prompt_tokens: 9, completion_tokens, total_tokens: completion_tokens + 9, ...more },
    });
    const openAi = (delta: string, at: number) => ({
      ...{ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta, logprobs: [] },
      ...{ obfuscation: 'aB3'.repeat(at % 5), sequence_number: at },
    });
    const said = (content: string, more: object) => ({ ...chunk({ content }).data, ...more });
    const texts = ['I', ' am', ' Thun', 'der', '.', ' Who', '?', ' Ac', 'me', '!', ' "\\"'];

    testRows<[string, typeof chat, number, object[], Partial<ExpectedAnswer>?]>([
      ['nothing else', chat, 1, texts.map((text) => said(text, {}))],
      ['padding', chat, 1, texts.map((text, at) => said(text, { obfuscation: 'xyz'.repeat(at % 4), usage: null }))],
      ['padding and a number', responses, 1, texts.map(openAi)],
      ['padding with names', chat, 7, texts.map((text, at) => said(text, { p: at % 3 > 1 ? 'Acme' : `A${at}` }))],
      ['padding with addresses', chat, 11, texts.map((text, at) => said(text, { p: `10.0.0.${at}` }))],
      ['random text under another name', chat, 11, texts.map((text, at) => said(text, { service_tier: `tier${at}` }))],
      ['usage that stays', chat, 1, texts.map((text) => said(text, usage(7)))],
      ['usage', chat, 11, texts.map((text, at) => said(text, usage(at + 1)))],
      ['usage that falls', chat, 11, texts.map((text, at) => said(text, usage(40 - at, { cost: at / 8 })))],
      ['usage that is invalid', chat, 11, texts.map((text, at) => said(text, usage(at % 2 ? -at : at + 0.5)))],
      [
        'usage that is not asked for',
        chat,
        11,
        texts.map((text, at) => said(text, usage(at))),
        { withholdsUsage: true },
      ],
      ['usage of very many tokens', chat, 11, texts.map((text, at) => said(text, usage(10 ** 15 + at)))],
      ['no text at times', chat, 11, texts.map((text, at) => said(at % 2 ? '' : text, {}))],
      ['what is dropped', chat, 11, texts.map((text, at) => said(text, { x_id: `Acme${at}`, provider: `${at}` }))],
      ['two texts', chat, 11, texts.map((text, at) => chunk({ reasoning: text, mood: `${text}${at}` }).data)],
      ['an end', chat, 11, texts.map((text) => chunk({ content: text }, { finish_reason: 'stop' }).data)],
    ])('it is parsed only if needed, and rewritten as if alone', (_name, dialect, read, events, expected) => {
      const wire = toWire(events.map((data) => ({ data }))).toString();
      const fast = rewriteStream(dialect, Buffer.from(wire), [], expected);
      // Events with other line ends take the slow path.
      const slow = rewriteStream(dialect, Buffer.from(wire.replaceAll('\n', '\r\n')), [], expected);
      expect([fast.read, slow.read]).toEqual([read, events.length]);
      expect(fast.output).toBe(slow.output);
      expect(fast.usage).toEqual(slow.usage);
      expect(fast.rewriter.nextSequence()).toBe(slow.rewriter.nextSequence());
      expect(fast.output).not.toMatch(/acme|thunder/i);
      expect(readEvents(fast.output)).toHaveLength(events.length);
    });
  });

  test('is held back where a name may begin, whether or not the next event arrives with it', () => {
    const events = ['I', ' thun', 'k: "thu', 's".', ' Ac', 'me', ' Thun'].map(says);
    const ends = events.map((_, at) => Buffer.concat(events.slice(0, at + 1)).length);
    const together = rewriteStream(chat, Buffer.concat(events)).output;
    const oneByOne = rewriteStream(chat, Buffer.concat(events), ends).output;
    expect(textsOf(together)).toEqual(['I', ' ', 'thunk: "', 'thus".', ' ', '', 'svc ', 'Thun']);
    expect(oneByOne).toBe(together);
  });

  test('does not match if it has more lines than its data', () => {
    const pretty = JSON.stringify(chunk({ content: '1' }).data, null, 1);
    const first = Buffer.from(`data: ${pretty.replaceAll('\n', '\ndata: ')}\n\n`);
    const { output, rewriter } = rewriteStream(chat, Buffer.concat([first, Buffer.from(`data: ${pretty}\n\n`)]));
    expect([textsOf(output), rewriter.failure?.kind]).toEqual([['1'], 'broken']);
  });

  testRows([
    ['the end', '[DONE]'],
    ['a failure', { error: { message: 'Down.' } }],
  ])('does not go out after the end or a failure', (_, data) => {
    const bytes = Buffer.concat([says('1'), toWire([{ data }]), says('2')]);
    expect(rewriteStream(chat, bytes).output).not.toMatch('"2"');
  });

  test('may repeat for ever: the size limit is for each event alone', () => {
    const [begun, long] = [says('1'), says('x'.repeat(17 * 1024 * 1024))];
    const cuts = [begun.length, begun.length + long.length];
    expect(rewriteStream(chat, Buffer.concat([begun, long, long]), cuts).rewriter.failure).toBeUndefined();
  });
});

test('a whole answer that failed is a failure, with or without a message', () => {
  const rewrite = (answer: unknown) => rewriteAnswer(responses, answer);
  expect(() => rewrite({ status: 'failed', error: null })).toThrow(new UpstreamFailure('reported'));
  expect(() => rewrite({ status: 'failed', error: { message: 'Down.' } })).toThrow('Down.');
  expect(() => rewrite([])).toThrow(TypeError);
});

describe('how a stream begins and ends', () => {
  test('pings and comments are no first event; sequence numbers stay without gaps', () => {
    const lively = toWire([
      { data: { type: 'keepalive', sequence_number: 0 } },
      { data: { type: 'response.created', sequence_number: 1 } },
      { data: { type: 'keepalive', sequence_number: 2 } },
    ]);
    const { output } = rewriteStream(responses, Buffer.concat([Buffer.from(': acme\n\n'), lively]));
    expect(readEvents(output).map(({ value }) => Object(value).sequence_number)).toEqual([0, 1]);
    expect(output).not.toMatch(/^:/);
    expect(rewriteStream(messages, toWire([{ type: 'ping', data: {} }])).rewriter.started).toBe(false);
    expect(rewriteStream(chat, toWire([{ type: 'ping', data: {} }])).rewriter.started).toBe(false);
  });

  testRows(['data:\n\n', 'event: heartbeat\ndata:\ndata:\n\n'])(
    'an event that says nothing is no more than a comment',
    (empty) => {
      const [first, second] = [chunk({ content: 'x' }), chunk({ content: 'y' })].map((event) => toWire([event]));
      const bytes = [empty, String(first), empty, String(second)].join('');
      const { output, rewriter } = rewriteStream(chat, Buffer.from(bytes));
      expect(rewriter.failure).toBeUndefined();
      expect(deltasOf(output)).toEqual([{ content: 'x' }, { content: 'y' }]);
      expect(output.match(/^: .*/gm)).toEqual([': keep-alive']);
      expect(rewriteStream(messages, Buffer.from(empty)).rewriter.started).toBe(false);
    },
  );

  test('a last event without its blank line counts, a truncated one does not', () => {
    const bytes = toWire([started, { data: { type: 'message_stop' } }]);
    const trimmed = rewriteStream(messages, bytes.subarray(0, -2));
    expect([trimmed.rewriter.ended, deltasOf(trimmed.output)]).toEqual([true, ['message_start', 'message_stop']]);
    const cut = rewriteStream(messages, bytes.subarray(0, -3));
    expect([cut.rewriter.ended, deltasOf(cut.output)]).toEqual([false, ['message_start']]);
  });

  test('[DONE] is passed through after the last event of a dialect that does not end with it, and once if it is the end', () => {
    const ends: readonly [Dialect, Uint8Array][] = [
      [messages, toWire([started, { data: { type: 'message_stop' } }])],
      [responses, toWire([{ data: { type: 'response.completed', response: {} } }])],
      [chat, toWire([chunk({}, { finish_reason: 'stop' }), { data: '[DONE]' }])],
    ];
    for (const [dialect, bytes] of ends) {
      const rest = toWire([{ data: '[DONE]' }, chunk({ content: 'x' })]);
      const { output, rewriter } = rewriteStream(dialect, Buffer.concat([bytes, rest]));
      expect([output.match(/^data: \[DONE\]$/gm), output.endsWith('data: [DONE]\n\n'), rewriter.ended]).toEqual([
        ...[['data: [DONE]'], true, true],
      ]);
    }
  });

  test('a stream has not ended while a choice is unfinished, or was asked for and has not begun', () => {
    const finish = (index: number) => chunk({}, { index, finish_reason: 'stop' });
    const talk = (index: number) => chunk({ content: 'x' }, { index });
    const ended = (choices: number, ...events: ReturnType<typeof chunk>[]) =>
      rewriteStream(chat, toWire(events), [], { choices }).rewriter.ended;
    expect(ended(1, talk(0), finish(0))).toBe(true);
    expect(ended(1, talk(0), finish(0), talk(1))).toBe(false);
    expect(ended(1, talk(0), finish(0), talk(1), finish(1))).toBe(true);
    expect(ended(1, finish(0), { data: { id: 'x', model: 'm', choices: [] } })).toBe(true);
    expect(ended(2, finish(0), finish(0))).toBe(false);
    expect(ended(2, finish(0), finish(1))).toBe(true);
  });

  testRows<[string, string]>([
    ['an error', '{"error":{"message":"Down."}}'],
    ['an error event', '{"message":"Down."}'],
    ['an error of a choice', '{"choices":[{"index":0,"delta":{},"error":{"message":"Down."}}]}'],
    ['what is no JSON', '{"choices":['],
  ])('a failure after the end of every choice is no failure any more', (name, data) => {
    const finish = chunk({ content: 'by Thun' }, { finish_reason: 'stop' });
    const after = { type: name === 'an error event' ? 'error' : 'message', data };
    const { output, rewriter } = rewriteStream(chat, toWire([finish, after, chunk({ content: 'y' })]));
    expect([rewriter.failure, rewriter.ended]).toEqual([undefined, true]);
    expect(deltasOf(output)).toEqual([{ content: 'by Thun' }]);
    const early = rewriteStream(chat, toWire([chunk({ content: 'x' }), after])).rewriter;
    expect([early.failure?.kind, early.ended]).toEqual([name === 'what is no JSON' ? 'broken' : 'reported', false]);
  });

  testRows([
    ['', false],
    ['null', false],
    [null, false],
    ['stop', true],
    ['nullified', true],
  ])('a finish reason is one, or none', (finish_reason, isOne) => {
    const { output, rewriter } = rewriteStream(chat, toWire([chunk({ content: 'Thun' }, { finish_reason })]));
    expect(rewriter.ended).toBe(isOne);
    expect(deltasOf(output).map(({ content }) => content)).toEqual(isOne ? ['Thun'] : ['', 'Thun']);
  });

  test('the NaN and Infinity that Python prints become null', () => {
    const event = (content: string) =>
      `data: {"choices":[{"index":0,"delta":{"content":"${content}"}}],"x":NaN, "y":[-Infinity,Infinity],"z":"NaN"}\n\n`;
    const bytes = Buffer.from(event('NaN \\"by Thun') + event('der, Infinity'));
    for (const cuts of [[], [...bytes.keys()].slice(1)]) {
      const { output, rewriter } = rewriteStream(chat, bytes, cuts);
      expect(rewriter.failure).toBeUndefined();
      expect(readEvents(output).map(({ value }) => value)).toEqual(
        ['NaN "by ', 'svc, Infinity']
          .map((content) => ({
            ...{ choices: [{ index: 0, delta: { content } }], y: [null, null], z: 'NaN' },
          }))
          .map((value) => expect.objectContaining(value)),
      );
    }
    expect(rewriteAnswer(messages, '{"content":[],"score":NaN}')).toBe('{"content":[],"score":null}');
  });

  testRows(['{"x":NaNNaN}', '{NaN:1}'])('what only looks like Python’s numbers is still no event', (data) => {
    const { rewriter } = rewriteStream(chat, Buffer.from(`data: ${data}\n\n`));
    expect([rewriter.failure?.kind, rewriter.started]).toEqual(['broken', false]);
  });

  testRows([
    [chat, { type: 'error', data: { message: 'Down.' } }],
    [chat, { data: { error: { message: 'Down.' }, choices: [] } }],
    [chat, { data: { error: 'Down.' } }],
    [chat, { data: { choices: [{ index: 0, delta: {}, error: { message: 'Down.' } }] } }],
    [messages, { data: { error: { message: 'Down.' } } }],
    [responses, { data: { error: { message: 'Down.' } } }],
    [responses, { type: 'error', data: { type: 'error', message: 'Down.', code: 'x' } }],
  ])('a failure is known in every form', (dialect, event) => {
    const { rewriter } = rewriteStream(dialect, toWire([event]));
    expect(rewriter.failure).toEqual({ kind: 'reported', message: 'Down.', forwarded: false });
  });

  test('a forwarded failure holds no name in any of its strings', () => {
    const raw = '{"by":"acmec\\u006frp"}';
    const error = { code: 'server_error', message: raw, metadata: { raw, provider_name: 'Thunder' } };
    const failed = { type: 'response.failed', sequence_number: 1, response: { status: 'failed', error } };
    const created = { type: 'response.created', sequence_number: 0, response: { status: 'in_progress' } };
    const explaining = { ...hiding, explain: () => '(explained)' };
    const rewriter = createStreamRewriter(formatOf(responses), explaining, { input: undefined, output: undefined });
    const output = rewriter.push(toWire([created, failed].map((data) => ({ data }))));
    expect(rewriter.failure).toEqual({ kind: 'reported', message: raw, forwarded: true });
    expect(Object(readEvents(output)[1]?.value).response.error).toEqual({
      code: 'server_error',
      message: '(explained)',
      metadata: { raw: '(explained)', provider_name: '(explained)' },
    });
  });
});

test('a taker that takes some texts and leaves others gets each of them once, in order', () => {
  const taken: unknown[] = [];
  let turn = 0;
  const taker = {
    takeEvents: (written: string) => taken.push(...deltasOf(written)),
    takeText: (text: string) => turn++ % 2 === 0 && taken.push({ content: JSON.parse(text) }) > 0,
  };
  const said = ['a ', 'b ', 'c ', 'd ', 'e '].map((content) => ({ content }));
  createStreamRewriter(formatOf(chat), hiding, {}, taker).push(toWire(said.map((delta) => chunk(delta))));
  expect(taken).toEqual(said);
});
