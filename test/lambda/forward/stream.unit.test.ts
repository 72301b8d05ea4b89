import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { fetchStream } from '../../../lambda/forward/stream.ts';
import { formatOf, hiding } from '../../support/rewrite.ts';
import { chat } from '../../support/stream-events.ts';

type Given = Parameters<typeof fetchStream>;

test('the pattern for names in deltas is compiled while the upstream is thinking, once the request is sent', async () => {
  const steps: string[] = [];
  const leaving = new AbortController();
  const ended = Promise.withResolvers<unknown>();
  const attempt: object = {
    request: { parsed: formatOf(chat), clientGone: leaving.signal, deadline: 60_000, outcome: {} },
    record: { tries: 0, usage: {} },
    hiding: { ...hiding, scrubber: { ...hiding.scrubber, prepareChannels: () => steps.push('prepared') } },
    ask: async () => {
      await undefined; // as for a cached key
      steps.push('asked');
      return new Promise(() => {});
    },
  };
  const dependencies: object = {
    ...{ now: () => 0, idleTimeout: 60_000, keepAliveInterval: 60_000 },
    log: { finished: () => ended.resolve(undefined) },
  };
  void fetchStream(attempt as Given[0], dependencies as Given[1]);
  await nextTurn();
  await nextTurn();
  expect(steps).toEqual(['asked', 'prepared']);
  leaving.abort();
  await ended.promise;
});

test('if the code for translation can not be loaded, the upstream is released and the error is the gateway’s own', async () => {
  const signals: AbortSignal[] = [];
  const attempt: object = {
    request: { parsed: formatOf(chat), deadline: 60_000, outcome: {} },
    record: { tries: 0, usage: {} },
    hiding,
    ask: async ({ signal }: { readonly signal: AbortSignal }) => {
      signals.push(signal);
      return { body: new Readable({ read() {} }), translated: {} };
    },
  };
  // A process that is out of file descriptors.
  const loadTranslating = async () => {
    throw new Error('EMFILE');
  };
  const dependencies: object = { loadTranslating, now: () => 0, idleTimeout: 60_000, keepAliveInterval: 60_000 };
  const fetching = fetchStream(attempt as Given[0], dependencies as Given[1]);
  await expect(fetching).rejects.toMatchObject({ code: 'internal_error', cause: { message: 'EMFILE' } });
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});
