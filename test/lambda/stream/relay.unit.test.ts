import { PassThrough, type Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { chat } from '../../../lambda/dialects/chat.ts';
import { createRelay, type StreamEnd } from '../../../lambda/stream/relay.ts';
import { createStreamRewriter } from '../../../lambda/stream/rewrite-stream.ts';
import { createScrubber } from '../../../lambda/stream/scrub.ts';
import { UpstreamFailure } from '../../../lambda/upstream/failure.ts';
import { wire } from '../../support/wire.ts';

const [first = '', ...others] = wire.chat.events;
const long = wire.chat.textEvent('x'.repeat(70_000));

/** A relay whose times are far apart: the client is behind after 100 ms and has caught up after 1 s. */
function startRelay() {
  const ends: StreamEnd[] = [];
  const usage = { input: undefined, output: undefined };
  const hiding = { scrubber: createScrubber([], 'svc'), publicModel: 'svc' };
  const relay = createRelay({
    dialect: chat,
    rewriter: createStreamRewriter(chat, hiding, usage),
    explain: (message) => message,
    idleTimeout: 100_000,
    keepAliveInterval: 15_000,
    timeLeft: 800_000,
    onFirstEvent: () => {},
    onEnd: async (end) => {
      ends.push(end);
    },
  });
  const upstream = new PassThrough();
  relay.begun.catch(() => {});
  relay.attach(upstream);
  const send = async (text: string) => {
    upstream.write(text);
    await setImmediate();
  };
  return { relay, upstream, ends, send };
}

function takeAll(body: Readable): string {
  let text = '';
  for (let chunk = body.read(); chunk !== null; chunk = body.read()) text += chunk;
  return text;
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

  /** The client reads nothing for so long, then all; then so much time passes before the upstream breaks. */
  test.each([
    ['holds the upstream back', 150, undefined, false],
    ['held it back until just now', 150, 0, false],
    ['held it back a moment ago', 150, 999, false],
    ['has caught up since', 150, 1_000, true],
    ['paused for no time', 50, 0, true],
  ])('what breaks while the client %s', async (_name, held, since, refund) => {
    const { relay, upstream, ends, send } = startRelay();
    await send(first + long);
    jest.advanceTimersByTime(held);
    if (since !== undefined) {
      takeAll(relay.body);
      await setImmediate();
      jest.advanceTimersByTime(since);
    }
    upstream.destroy(new Error('reset'));
    await setImmediate();
    expect(failureOf(ends)).toMatchObject({ reason: 'cut', refund });
    takeAll(relay.body);
  });

  test('an upstream that is held back does not stall, and gets no keep-alives sent', async () => {
    const { relay, ends, send } = startRelay();
    await send(first + long);
    jest.advanceTimersByTime(300_000);
    expect(ends).toEqual([]);
    expect(takeAll(relay.body)).not.toMatch('keep-alive');
    await setImmediate();
    // The client reads on: from now on the upstream's silence counts.
    jest.advanceTimersByTime(99_999);
    expect(ends).toEqual([]);
    jest.advanceTimersByTime(1);
    await setImmediate();
    expect(failureOf(ends)).toMatchObject({ reason: 'stalled', refund: true });
    expect(takeAll(relay.body)).toMatch('keep-alive');
  });

  test('any piece of the upstream is a sign of life; nothing but an event begins the answer', async () => {
    const { relay, ends, send } = startRelay();
    let begun = false;
    relay.begun.then(
      () => {
        begun = true;
      },
      () => {},
    );
    await send(': hello\n\n');
    await send('data: ');
    expect(begun).toBe(false);
    jest.advanceTimersByTime(15_000);
    await setImmediate();
    expect(begun).toBe(true);
    for (let round = 0; round < 4; round += 1) {
      await send('{');
      jest.advanceTimersByTime(99_999);
    }
    expect(ends).toEqual([]);
    jest.advanceTimersByTime(1);
    await setImmediate();
    expect(failureOf(ends)).toMatchObject({ reason: 'timeout', refund: true });
    expect(relay.signal.aborted).toBe(true);
    takeAll(relay.body);
  });

  test('ends once, whatever comes after the end', async () => {
    const { relay, upstream, ends, send } = startRelay();
    await send(first + others.join(''));
    relay.fail(new UpstreamFailure('unreachable'));
    relay.cancel();
    upstream.destroy(new Error('reset'));
    await setImmediate();
    expect(ends).toEqual([{ kind: 'complete' }]);
    expect(takeAll(relay.body)).toMatch(/\[DONE\]\n\n$/);
    await setImmediate();
    expect(relay.body.readableEnded).toBe(true);
  });

  test('a client that goes aborts the upstream, and its own fault is no upstream failure', async () => {
    const { relay, upstream, ends, send } = startRelay();
    await send(first);
    relay.body.destroy();
    await setImmediate();
    expect(ends).toEqual([{ kind: 'client_gone' }]);
    expect([relay.signal.aborted, upstream.destroyed]).toEqual([true, true]);
  });

  test('a fault of our own is told in the dialect, refunded, and shows nothing of itself', async () => {
    const { relay, ends, send } = startRelay();
    await send(first);
    relay.fail(new TypeError('secret thing'));
    await setImmediate();
    expect(failureOf(ends)).toMatchObject({ code: 'internal_error', refund: true });
    expect(takeAll(relay.body)).not.toMatch('secret thing');
  });

  test('an answer that comes too late is let go of', async () => {
    const { relay } = startRelay();
    relay.cancel();
    const late = new PassThrough();
    relay.attach(late);
    expect(late.destroyed).toBe(true);
  });
});
