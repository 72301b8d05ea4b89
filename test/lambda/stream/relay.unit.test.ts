import { PassThrough, type Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { chat } from '../../../lambda/dialects/chat/chat.ts';
import type { Dialect } from '../../../lambda/dialects/dialect.ts';
import type { GatewayError } from '../../../lambda/errors.ts';
import { createScrubber } from '../../../lambda/hiding/scrub.ts';
import { createRelay, type StreamEnd } from '../../../lambda/stream/relay.ts';
import { createStreamRewriter } from '../../../lambda/stream/rewrite-stream.ts';
import { formatOf } from '../../support/rewrite.ts';
import { testRows } from '../../support/test-rows.ts';
import { wire } from '../../support/wire.ts';

const [first = '', ...others] = wire.chat.events;
const long = wire.chat.textEvent('x'.repeat(70_000));

type Settle = (end: StreamEnd) => Promise<GatewayError | undefined>;

/** A relay with long timeouts. A client is behind after 100 ms, and has caught up after 1 s. */
function startRelay(
  dialect: Dialect = chat,
  settle: Settle = async () => undefined,
  names: string[] = [],
  shouldDrain = false,
) {
  const ends: StreamEnd[] = [];
  const hiding = {
    scrubber: createScrubber(names, 'svc'),
    showsGenerated: false,
    publicModel: 'svc',
    explain: (message: string) => message,
  };
  const relay = createRelay({
    dialect,
    explain: (message) => message,
    idleTimeout: 100_000,
    keepAliveInterval: 15_000,
    ...{ timeLeft: 800_000, shouldDrain: () => shouldDrain },
    onFirstEvent: () => {},
    onEnd: (end) => {
      ends.push(end);
      return settle(end);
    },
  });
  const upstream = new PassThrough();
  relay.begun.catch(() => {});
  const attach = (answer: Readable) => relay.attach(answer, createStreamRewriter(formatOf(dialect), hiding, {}));
  attach(upstream);
  const send = async (text: string) => {
    upstream.write(text);
    await setImmediate();
  };
  return { relay, attach, upstream, ends, send };
}

function takeAll(body: Readable): string {
  let text = '';
  for (let chunk = body.read(); chunk !== null; chunk = body.read()) text += chunk;
  return text;
}

async function pass(milliseconds: number): Promise<void> {
  jest.advanceTimersByTime(milliseconds);
  await setImmediate();
}

async function reset(upstream: Readable): Promise<void> {
  upstream.destroy(new Error('reset'));
  await setImmediate();
}

const failureOf = ([end]: StreamEnd[]) => (end?.kind === 'failed' ? end.failure : undefined);

describe('the relay between an upstream and a client', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
  });
  afterEach(() => {
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  /** The client reads nothing for a time, then everything; then some time passes before the upstream breaks. */
  testRows([
    ['holds the upstream back', 150, undefined, false],
    ['held it back until just now', 150, 0, false],
    ['held it back a moment ago', 150, 999, false],
    ['has caught up since', 150, 1_000, true],
    ['paused for no time', 50, 0, true],
    ['had no time to read a long event', 50, undefined, true],
  ])(
    'what breaks is refunded unless the client holds the upstream back, or did just now',
    async (_name, held, since, refund) => {
      const { relay, upstream, ends, send } = startRelay();
      await send(first + long);
      jest.advanceTimersByTime(held);
      if (since !== undefined) {
        takeAll(relay.body);
        await setImmediate();
        jest.advanceTimersByTime(since);
      }
      await reset(upstream);
      expect(failureOf(ends)).toMatchObject({ reason: 'cut', refund });
      takeAll(relay.body);
    },
  );

  test('under back-pressure the upstream does not count as stalled, and no keep-alives are sent', async () => {
    const { relay, ends, send } = startRelay();
    await send(first + long);
    await pass(300_000);
    expect(ends).toEqual([]);
    expect(takeAll(relay.body)).not.toMatch('keep-alive');
    await setImmediate();
    // The client reads again, so from now on the upstream's silence counts.
    jest.advanceTimersByTime(99_999);
    expect(ends).toEqual([]);
    await pass(1);
    expect(failureOf(ends)).toMatchObject({ reason: 'stalled', refund: true });
    expect(takeAll(relay.body)).toMatch('keep-alive');
  });

  test('the head of a response restarts the idle timeout', async () => {
    const { relay, attach, ends } = startRelay();
    jest.advanceTimersByTime(99_999);
    attach(new PassThrough());
    await pass(99_999);
    expect(ends).toEqual([]);
    relay.leave();
  });

  test('any chunk of the upstream restarts the idle timeout; only an event begins the answer', async () => {
    const { relay, ends, send } = startRelay();
    const begun: unknown[] = [];
    relay.begun.then(
      () => begun.push('begun'),
      () => {},
    );
    await send(': hello\n\n');
    await send('data: ');
    expect(begun).toEqual([]);
    await pass(15_000);
    expect(begun).toEqual(['begun']);
    for (let round = 0; round < 4; round += 1) {
      await send('{');
      jest.advanceTimersByTime(99_999);
    }
    expect(ends).toEqual([]);
    await pass(1);
    expect(failureOf(ends)).toMatchObject({ reason: 'timeout', refund: true });
    expect(relay.signal.aborted).toBe(true);
    takeAll(relay.body);
  });

  test('what came in one read leaves in one write, without delay', async () => {
    const { relay, upstream, ends } = startRelay();
    const writes: string[] = [];
    relay.body.setEncoding('utf8').on('data', (text: string) => writes.push(text));
    const [one, two] = [wire.chat.textEvent('one'), wire.chat.textEvent('two')];
    upstream.emit('data', Buffer.from(first));
    await new Promise(process.nextTick);
    expect(writes).toEqual([expect.stringContaining('"role"')]);
    for (const text of [one, two.slice(0, 9), two.slice(9)]) upstream.emit('data', Buffer.from(text));
    await new Promise(process.nextTick);
    expect(writes.slice(1)).toEqual([expect.stringMatching(/"one".*\n\ndata: .*"two".*\n\n$/)]);
    for (const text of [one, ...others]) upstream.emit('data', Buffer.from(text));
    upstream.end();
    await setImmediate();
    expect(writes.join('')).toMatch(/\[DONE\]\n\n$/);
    expect(ends).toEqual([{ kind: 'complete' }]);
  });

  test('a long read leaves in portions of whole events, even if a portion holds no end of one', async () => {
    const { relay, upstream, ends } = startRelay();
    const writes: string[] = [];
    relay.body.setEncoding('utf8').on('data', (text: string) => writes.push(text));
    const many = Array.from({ length: 400 }, (_, at) => wire.chat.textEvent(`word ${at} ü`));
    const huge = wire.chat.textEvent('x'.repeat(30_000));
    upstream.emit('data', Buffer.from([first, ...many, huge, ...many, ...others].join('')));
    upstream.end();
    await setImmediate();
    expect(writes.filter((text) => !text.endsWith('\n\n'))).toEqual([]);
    expect(Math.max(...writes.map((text) => text.replace(/x{30000}/, '').length))).toBeLessThan(9_000);
    expect(writes.join('').match(/word \d+ ü|x{30000}/g)).toHaveLength(801);
    expect(ends).toEqual([{ kind: 'complete' }]);
  });

  test('output that was pending when the client disconnected is dropped', async () => {
    const { relay, upstream, ends } = startRelay();
    upstream.emit('data', Buffer.from(first));
    relay.leave();
    await setImmediate();
    expect(takeAll(relay.body)).toBe('');
    expect(ends).toEqual([{ kind: 'client_gone', isWhole: false }]);
  });

  testRows([
    ['whose usage is still to come', 'usage', { isWhole: true }],
    ['whose usage does not come within five seconds', 'silence', { isWhole: true }],
    ['that is not complete', 'cut', { isWhole: false }],
  ])(
    'who leaves an answer that is complete but for its usage, is followed by that for some seconds',
    async (_name, rest, expected) => {
      const { relay, upstream, ends, send } = startRelay();
      const [role = '', ...texts] = wire.chat.events.slice(0, -1);
      await send(rest === 'cut' ? role : role + texts.join(''));
      relay.body.destroy();
      if (rest !== 'cut') {
        await pass(4_999);
        expect([ends, relay.signal.aborted]).toEqual([[], false]);
        await (rest === 'usage' ? send('data: [DONE]\n\n') : pass(1));
      }
      expect(ends).toEqual([{ kind: 'client_gone', ...expected }]);
      expect(relay.signal.aborted).toBe(rest === 'cut');
      upstream.destroy();
    },
  );

  testRows([
    ['to its end', 'end', { isWhole: true }],
    ['until it breaks', 'break', { isWhole: false, failure: expect.objectContaining({ reason: 'cut' }) }],
    ['until it stalls', 'stall', { isWhole: false, failure: expect.objectContaining({ reason: 'stalled' }) }],
    ['until its time is over', 'wait', { isWhole: false, failure: expect.objectContaining({ reason: 'deadline' }) }],
  ])(
    'who leaves what is to be known to its end, is followed by all of it, and nothing is kept',
    async (_name, rest, expected) => {
      const settled = Promise.withResolvers<undefined>();
      const { relay, upstream, ends, send } = startRelay(chat, () => settled.promise, [], true);
      await send(first + long);
      // The client stops reading, then disconnects.
      expect(upstream.isPaused()).toBe(true);
      relay.body.destroy();
      for (let round = 0; round < 9; round += 1) {
        if (rest === 'wait' || round < 1) await pass(90_000);
        await send(long);
        expect([upstream.readableLength, relay.body.readableLength]).toEqual([0, 0]);
      }
      if (rest === 'end') await send(others.join(''));
      else if (rest === 'break') await reset(upstream);
      else if (rest === 'stall') await pass(100_000);
      expect(ends).toEqual([{ kind: 'client_gone', ...expected }]);
      expect(relay.body.closed).toBe(false);
      settled.resolve(undefined);
      await setImmediate();
      expect(relay.body.closed).toBe(true);
    },
  );

  test('a failure without its blank line counts as reported, however the connection ends', async () => {
    for (const end of ['end', 'destroy'] as const) {
      const { relay, upstream, ends, send } = startRelay();
      await send(first + wire.chat.failureEvent.trimEnd());
      upstream[end]();
      await setImmediate();
      expect(failureOf(ends)).toMatchObject({ reason: 'reported', refund: true });
      expect(takeAll(relay.body).match(/"error"/g)).toHaveLength(1);
    }
  });

  testRows<[string, string]>([
    ['goes silent', ''],
    ['says that it failed', wire.chat.failureEvent],
  ])('what was held back leaves before the failure of an upstream', async (_name, last) => {
    const { relay, ends, send } = startRelay(chat, undefined, ['acmecorp']);
    await send(first + wire.chat.textEvent('by Acme') + last);
    await pass(last === '' ? 100_000 : 0);
    expect(failureOf(ends)).toMatchObject({ refund: true });
    expect(takeAll(relay.body)).toMatch(/"by ".*"Acme".*"error"/s);
  });

  testRows<[string, boolean, Settle, RegExp]>([
    ['a failure', true, async (end) => failureOf([end])?.withNote('Not charged.'), /end\. Not charged\. Please/],
    ['a failure that was not settled', true, async () => undefined, /end\. Please/],
    ['a failure without a store', true, () => Promise.reject(new Error('no store')), /end\. Please/],
    ['an end', false, async () => undefined, /^$/],
    ['an end without a store', false, () => Promise.reject(new Error('no store')), /^$/],
  ])(
    'the last of a failure waits until it is settled, or not; what is complete ends at once, and closes then',
    async (_name, breaks, settle, expected) => {
      const settled = Promise.withResolvers<void>();
      const { relay, upstream, send } = startRelay(chat, (end) => settled.promise.then(() => settle(end)));
      await send(first + (breaks ? others[0] : others.join('')));
      if (breaks) await reset(upstream);
      else upstream.end();
      expect(takeAll(relay.body)).not.toMatch(/^$|"error"/);
      await setImmediate();
      expect([relay.body.readableEnded, relay.body.closed]).toEqual([!breaks, false]);
      settled.resolve();
      await setImmediate();
      expect(takeAll(relay.body)).toMatch(expected);
      await setImmediate();
      expect([relay.body.readableEnded, relay.body.closed]).toEqual([true, true]);
    },
  );

  test('an error after the end of an answer is not a failure', async () => {
    const { relay, send, ends } = startRelay();
    await send(others.filter((event) => !event.includes('[DONE]')).join(''));
    relay.fail(new Error('the process stops'));
    await setImmediate();
    expect(ends).toEqual([{ kind: 'complete' }]);
    expect(takeAll(relay.body)).not.toContain('"error"');
  });

  test('a client that disconnects while its failure is settled gets nothing more', async () => {
    const settled = Promise.withResolvers<undefined>();
    const { relay, upstream, ends, send } = startRelay(chat, () => settled.promise);
    await send(first);
    await reset(upstream);
    relay.body.destroy();
    settled.resolve(undefined);
    await setImmediate();
    expect(ends).toMatchObject([{ kind: 'failed' }]);
    expect(relay.body.errored).toBeNull();
  });

  test('a keep-alive goes out if nothing else has for the whole interval', async () => {
    const { relay, send } = startRelay();
    await send(first);
    for (let round = 0; round < 3; round += 1) {
      jest.advanceTimersByTime(14_999);
      await send(wire.chat.textEvent('word'));
    }
    await pass(14_999);
    expect(takeAll(relay.body)).not.toMatch(wire.chat.keepAlive);
    await pass(1);
    expect(takeAll(relay.body)).toMatch(wire.chat.keepAlive);
    relay.leave();
  });

  test('an answer that arrives too late is dropped', async () => {
    const { relay, attach } = startRelay();
    relay.leave();
    const late = new PassThrough();
    attach(late);
    expect(late.destroyed).toBe(true);
  });
});
