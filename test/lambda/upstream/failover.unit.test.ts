import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { dialects } from '../../../lambda/dialects/index.ts';
import type { AnswerPlan } from '../../../lambda/dialects/translation.ts';
import { GatewayError } from '../../../lambda/errors.ts';
import type { Upstream } from '../../../lambda/settings/read-upstreams.ts';
import { keyOf } from '../../../lambda/settings/secrets.ts';
import { createFailover, type Observer } from '../../../lambda/upstream/failover.ts';
import { UpstreamFailure } from '../../../lambda/upstream/failure.ts';
import type { Candidate } from '../../../lambda/upstream/pool.ts';
import type { Prepare, UpstreamRequest } from '../../../lambda/upstream/upstream-request.ts';
import { stopTimers } from '../../support/stop-timers.ts';
import { testRows } from '../../support/test-rows.ts';
import { upstreamNamed } from '../../support/upstream-named.ts';

type Answer =
  | number
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: Readable }
  | Error
  | (() => { readonly status: number; readonly headers?: Record<string, string>; readonly body?: Readable });

const [first, second] = [upstreamNamed('UPSTREAM'), upstreamNamed('UPSTREAM_2')];
const candidate = (upstream: Upstream, key: string): Candidate => ({
  ...{ upstream, key, isOwn: key === 'a', headers: {}, secrets: [key] },
});
/** Two upstreams with two keys each; the conversation is the first one's own. */
const all = [candidate(first, 'a'), candidate(first, 'b'), candidate(second, 'x'), candidate(second, 'y')];

interface Changes extends Partial<Observer> {
  readonly prepare?: Prepare;
  readonly isAccountBound?: () => boolean;
}

const [chat] = dialects;

function createOutgoing(): UpstreamRequest {
  if (!chat?.endpoints[0]) throw new Error('there is no dialect');
  const body = {
    conversation: { caller: 'me', traits: [] },
    text: '{"model":0}',
    edits: [],
    model: { start: 9, end: 10 },
  };
  const model = { id: 'svc', kind: 'text' } as const;
  return {
    dialect: chat,
    endpoint: chat.endpoints[0],
    model,
    stream: false,
    clientHeaders: {},
    body,
  };
}

/** Asks upstreams with an answer for each key. Returns the outcome, the keys tried, those resting, and the reported failures. */
async function ask(answers: Readonly<Record<string, Answer>>, changes: Changes = {}, candidates = all) {
  const [asked, resting, told]: [string[], string[], string[]] = [[], [], []];
  let forgotten = false;
  const refuse: Prepare = async (_outgoing, { prefix }) => {
    throw new GatewayError('invalid_request', `${prefix} can't carry it`);
  };
  const { isAccountBound = () => false, prepare = refuse, ...observed } = changes;
  const askUpstreams = createFailover({
    isAccountBound: async () => isAccountBound(),
    pool: {
      candidates: async () => [...candidates],
      renew: async () => undefined,
      next: async () => undefined,
      hasKeys: async () => true,
      isMetBySeveral: () => false,
      rest: ({ key }, { kind }) => resting.push(`${key} ${kind}`),
    },
    send: async ({ headers: { authorization = '' } }, _signal, releaseBody) => {
      const key = authorization.replace('Bearer ', '');
      asked.push(key);
      releaseBody?.();
      const given = answers[key] ?? 200;
      const answer = typeof given === 'function' ? given() : given;
      if (answer instanceof Error) throw answer;
      const {
        status,
        headers = {},
        body = Readable.from([Buffer.from('{}')]),
      } = typeof answer === 'number' ? { status: answer } : answer;
      return { status, headers, body };
    },
    prepare,
    now: () => Date.UTC(2026, 10, 21),
  });
  const outgoing = createOutgoing();
  const outcome = await askUpstreams(outgoing, {
    explain: (body) => `explained ${body}`,
    signal: new AbortController().signal,
    releaseBody: () => {
      forgotten = true;
      outgoing.body = undefined;
    },
    takeMemory: () => {},
    onTry: () => {},
    onFailure: ({ kind }, { key }, another) => told.push(`${key} ${kind} ${another}`),
    ...observed,
  }).catch((error: unknown) => error);
  return { outcome, asked: asked.join(''), resting, told, forgotten };
}

describe('upstreams that need a translation which can not carry the request', () => {
  const mute = (one: Upstream): Upstream => ({ ...one, dialects: [] });
  const [one, other] = [mute(first), mute(second)];
  const [a, b, x, y] = [candidate(one, 'a'), candidate(one, 'b'), candidate(other, 'x'), candidate(other, 'y')];

  testRows<[Record<string, Answer>, Candidate[], string, object]>([
    // If there are no others, the first refusal is the answer.
    [{}, [a, b, x, y], '', { code: 'invalid_request', message: `${first.prefix} can't carry it` }],
    [{ a: 500 }, [...all.slice(0, 2), x, y], 'a', { kind: 'server_error' }],
    [{}, [a, b, ...all.slice(2)], 'x', { status: 200 }],
  ])('are not tried, and hide nothing of those that were', async (answers, candidates, tried, expected) => {
    const { outcome, asked } = await ask(answers, {}, candidates);
    expect([asked, outcome]).toEqual([tried, expect.objectContaining(expected)]);
  });

  test.each([new TypeError('a fault'), new GatewayError('service_unavailable', 'no room')])(
    'are no excuse for a fault of the gateway’s own: %s',
    async (fault) => {
      const { outcome, asked } = await ask({}, { prepare: () => Promise.reject(fault) }, [a, ...all.slice(2)]);
      expect([outcome, asked]).toEqual([fault, '']);
    },
  );

  test('are asked once, however many keys they have', async () => {
    const prepared: string[] = [];
    const prepare: Prepare = async (_outgoing, { prefix }) => {
      prepared.push(prefix);
      throw new GatewayError('invalid_request', 'no');
    };
    await ask({}, { prepare }, [a, b, x, y]);
    expect(prepared).toEqual([first.prefix, second.prefix]);
  });
});

/** A candidate that does not speak the client's dialect, and a fake `prepare` for it. */
function prepareTranslated(reasoning: 'sent' | 'none') {
  if (!chat) throw new Error('there is no dialect');
  const sealing = { salt: keyOf('a salt of at least 16 characters'), caller: 'me' };
  const translated = {
    dialect: chat,
    headers: {},
    answer: { keptBytes: 5, contextWords: {} } as AnswerPlan,
    sealing,
    signsThinking: false,
  };
  const prepare: Prepare = async (_outgoing, upstream, _signal, withoutReasoning) => ({
    url: 'https://upstream.example',
    pieces: withoutReasoning ? ['1234'] : ['1234', '567'],
    upstream,
    translated: { ...translated, reasoning: withoutReasoning ? 'refused' : reasoning },
  });
  const candidates = all.slice(0, 1).map((one) => ({ ...one, upstream: { ...one.upstream, dialects: [] } }));
  return { prepare, candidates };
}

test('memory is taken for a translated request in addition to the client’s, and for the parts that its answer repeats', async () => {
  const { prepare, candidates } = prepareTranslated('none');
  const taken: number[] = [];
  await ask({}, { prepare, takeMemory: (bytes) => taken.push(bytes) }, candidates);
  expect(taken).toEqual([12]);
});

test('a request whose reasoning may be refused is retained, and replaced once by one without reasoning', async () => {
  const { prepare, candidates } = prepareTranslated('sent');
  const taken: number[] = [];
  const changes = { prepare, takeMemory: (bytes: number) => taken.push(bytes) };
  expect(await ask({ a: 500 }, changes, candidates)).toMatchObject({ asked: 'a', forgotten: false });
  const message = "Extra inputs are not permitted, field: 'messages[1].reasoning_content'";
  let answers = 0;
  const refuses = () => ({ status: 400, body: Readable.from([Buffer.from(answers++ === 0 ? message : 'no')]) });
  const refused = await ask({ a: refuses }, changes, candidates);
  expect(refused).toMatchObject({ asked: 'aa', forgotten: true, told: ['a caller true', 'a caller false'] });
  expect(taken).toEqual([12, 12, -3]);
});

describe('the keys and upstreams tried', () => {
  test('none without a key', async () => {
    const { outcome, asked } = await ask({}, {}, []);
    expect([outcome, asked]).toEqual([expect.objectContaining({ kind: 'credentials' }), '']);
  });

  test('no other once the client has disconnected', async () => {
    const gone = new Error('gone');
    expect(await ask({}, { signal: AbortSignal.abort(gone) })).toMatchObject({ outcome: gone, asked: '' });
    const controller = new AbortController();
    const explain = () => {
      controller.abort(gone);
      return 'too late';
    };
    const late = await ask({ a: 413 }, { signal: controller.signal, explain });
    expect(late).toEqual({ outcome: gone, asked: 'a', resting: [], told: [], forgotten: false });
  });
});

test('the body is retained until the last candidate is tried, and its account-bound data is looked for before that', async () => {
  expect((await ask({ a: 429, b: 401 })).forgotten).toBe(false);
  expect(await ask({ a: 429, b: 401, x: 402 })).toMatchObject({ asked: 'abxy', forgotten: true });
  let questions = 0;
  const isAccountBound = () => {
    questions += 1;
    return true;
  };
  const { outcome } = await ask({ a: 429, b: 401, x: 402, y: 400 }, { isAccountBound });
  expect(outcome).toMatchObject({ kind: 'limited' });
  expect(questions).toBe(1);
});

describe('each failure', () => {
  test('makes its key rest if the key is the cause, and is reported together with whether another try follows', async () => {
    expect(await ask({ a: 401, b: 429, x: 500 })).toMatchObject({
      outcome: { kind: 'server_error', upstreamStatus: 500 },
      resting: ['a credentials', 'b limited'],
      told: ['a credentials true', 'b limited true', 'x server_error false'],
    });
    expect(await ask({ a: 403, b: 403 })).toMatchObject({
      resting: [],
      told: ['a forbidden true', 'b forbidden false'],
    });
  });

  test('does not include the gateway’s own faults', async () => {
    const fault = new TypeError('a fault');
    expect(await ask({ a: fault })).toMatchObject({ outcome: fault, asked: 'a', resting: [], told: [] });
  });

  test('is the answer if it is the last, except a 400 on data that only the first failed account can read', async () => {
    const bound = { isAccountBound: () => true };
    expect((await ask({ a: 429, b: 400 }, bound)).outcome).toMatchObject({ kind: 'limited' });
    expect((await ask({ a: 429, b: 400 })).outcome).toMatchObject({ kind: 'caller' });
    expect((await ask({ a: 400 }, bound)).outcome).toMatchObject({ kind: 'caller' });
    expect((await ask({ a: 429, b: 500, x: 400 }, bound)).outcome).toMatchObject({ kind: 'limited' });
  });
});

describe('a 400 on data that only the conversation’s own key can read, which rests', () => {
  const [a, ...others] = all as [Candidate, ...Candidate[]];
  testRows<[Record<string, Answer>, string, object]>([
    [{ b: 400 }, 'ba', { status: 200 }],
    [{ b: 400, a: 429 }, 'ba', { kind: 'limited' }],
    [{ b: 500, x: 400 }, 'bx', { kind: 'server_error' }],
    [{ b: 400, a: 400 }, 'ba', { kind: 'caller' }],
  ])('is no mistake of the caller, and asks that key', async (answers, tried, expected) => {
    const { outcome, asked } = await ask(answers, { isAccountBound: () => true }, [...others, a]);
    expect([asked, outcome]).toEqual([tried, expect.objectContaining(expected)]);
  });

  test('is the answer in the words of that key, if it refuses the request too', async () => {
    const refusedBy = (key: string) => ({ status: 400, body: Readable.from([Buffer.from(`by ${key}`)]) });
    const answers = { b: refusedBy('b'), a: refusedBy('a') };
    const { outcome } = await ask(answers, { isAccountBound: () => true }, [...others, a]);
    expect(outcome).toMatchObject({ message: 'explained by a' });
  });

  test('is the caller’s mistake if the data is not bound to an account', async () => {
    const { outcome, asked } = await ask({ b: 400 }, {}, [...others, a]);
    expect([asked, outcome]).toEqual(['b', expect.objectContaining({ kind: 'caller' })]);
  });
});

describe('an upstream’s error message', () => {
  testRows([
    [400, 'explained why'],
    [413, 'explained why'],
    [500, 'The model failed to answer. Please try again.'],
  ])('is passed on if the caller can fix it', async (status, message) => {
    const body = Readable.from([Buffer.from('why')]);
    const { outcome } = await ask({ a: { status, body } }, {}, all.slice(0, 1));
    expect(outcome).toMatchObject({ message });
  });

  test('is dropped if it is too long, broken or endless', async () => {
    using timers = stopTimers();
    const silent = new Readable({ read() {} });
    const broken = new Readable({ read: () => broken.destroy(new Error('reset')) });
    const long = (length: number) => Readable.from([Buffer.alloc(length, 'x')]);
    const messageOf = async (body: Readable) => {
      const { outcome } = await ask({ a: { status: 400, body } });
      return outcome instanceof UpstreamFailure ? outcome.message.length : outcome;
    };
    expect(await messageOf(long(65_536))).toBe(65_536 + 'explained '.length);
    expect(await messageOf(long(65_537))).toBe('explained '.length);
    expect(await messageOf(broken)).toBe('explained '.length);
    const waiting = messageOf(silent);
    timers.pass(0);
    await new Promise(setImmediate);
    timers.pass(1_999);
    expect(silent.destroyed).toBe(false);
    timers.pass(1);
    expect(await waiting).toBe('explained '.length);
  });

  test('comes with how long to wait and whether to retry', async () => {
    const headers = { 'retry-after': 'Sat, 21 Nov 2026 00:00:09 GMT', 'x-should-retry': 'false' };
    const [limited] = all;
    const { outcome } = await ask({ a: { status: 429, headers } }, {}, limited ? [limited] : []);
    expect(outcome).toMatchObject({ headers: { 'retry-after': '9', 'x-should-retry': 'false' }, retryAfter: 9 });
    const odd = await ask({ a: { status: 400, headers: { 'x-should-retry': 'perhaps' } } });
    expect(odd.outcome).toMatchObject({
      headers: expect.not.objectContaining({ 'x-should-retry': expect.anything() }),
    });
  });
});
