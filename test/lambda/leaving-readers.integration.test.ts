import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { flood, head, json, type Script, silence, write } from '../../local/upstream/script.ts';
import { bytesOnceStill } from '../support/fake-upstream.ts';
import { testRows } from '../support/test-rows.ts';
import { inTime, waitUntil } from '../support/wait-until.ts';
import { startWatchedGateway, type WatchedGateway } from '../support/watched-gateway.ts';
import { canary, wire } from '../support/wire.ts';

const mebibyte = 1024 * 1024;
const eventHead = head(200, { 'content-type': 'text/event-stream' });

/** A client that controls when it reads, and when it disconnects. */
function send({ gateway }: WatchedGateway, stream = true) {
  const { path, question } = wire.chat;
  const headers = { 'x-api-key': canary.clientKey, 'content-type': 'application/json' };
  const outgoing = httpRequest(gateway.url + path, { method: 'POST', headers, agent: false });
  outgoing.on('error', () => {});
  outgoing.end(JSON.stringify({ ...question, stream }));
  const answer = once(outgoing, 'response').then(([response]: IncomingMessage[]) => {
    if (!response) throw new Error('no answer');
    response.pause();
    return response;
  });
  // A client that disconnects at once never sees a response.
  answer.catch(() => {});
  return { answer, leave: () => outgoing.destroy() };
}

/** Reads this many bytes, then stops. */
async function readSome(answer: IncomingMessage, size: number): Promise<void> {
  let taken = 0;
  while (taken < size) {
    const chunk: Buffer | null = answer.read();
    if (chunk === null) await inTime(once(answer, 'readable'), 'more of the answer arrives');
    else taken += chunk.length;
  }
}

/** The log lines of requests that went upstream; reading the quota is logged too. */
const upstreamRequestsIn = ({ gateway }: WatchedGateway) => gateway.log.filter(({ tries }) => tries !== undefined);

const endOf = async (watched: WatchedGateway, count = 1) => {
  await waitUntil(() => upstreamRequestsIn(watched).length >= count, `${count} requests are over`);
  return watched.lineOf(String(upstreamRequestsIn(watched).at(-1)?.requestId));
};

const piece = wire.chat.textEvent('x'.repeat(65_536));

/**
 * What the kernel's buffers of two connections may hold, whatever the gateway does: on Linux they grow to 32 MiB for a reader and
 * 4 for a writer. What the client has read and the gateway buffers is small in comparison.
 */
const heldBySystem = 2 * (32 + 4) * mebibyte;

/** 130 MB, more than the kernel buffers, written with back-pressure. */
const long: Script = [eventHead, write(wire.chat.events[0] ?? ''), flood(2_000 * piece.length, piece)];

describe('a client', () => {
  testRows([false, true])('that disconnects before the answer pays', async (stream) => {
    await using watched = await startWatchedGateway();
    // So that the first of them goes over a reused connection, which must not be mistaken for a stale one.
    watched.gateway.upstream.answer(json(200, wire.chat.answer));
    await watched.ask('chat');
    const before = await watched.remaining();
    for (const script of [[silence], [eventHead, silence]]) {
      watched.gateway.upstream.answer(script);
      const { leave } = send(watched, stream);
      const asked = await watched.gateway.upstream.arrival(watched.gateway.upstream.requests.length);
      leave();
      expect(await asked.closed).toBe('aborted');
    }
    expect(await endOf(watched, 3)).toMatchObject({ message: 'answered', end: 'client_gone' });
    expect(await watched.remaining()).toBe(before - 2);
    expect(watched.gateway.upstream.requests.map(({ reused }) => reused)).toEqual([false, true, false]);
  });

  testRows([false, true])('that disconnects while it is charged pays, and nothing is sent upstream', async (stream) => {
    const charging = Promise.withResolvers<void>();
    const charged = Promise.withResolvers<void>();
    await using watched = await startWatchedGateway({
      spoilStore({ name }) {
        if (name !== 'UpdateItem') return undefined;
        charging.resolve();
        return charged.promise;
      },
    });
    const before = await watched.remaining();
    const { leave } = send(watched, stream);
    await inTime(charging.promise, 'the request is charged');
    leave();
    // By the time the server gets a request sent now, it has noticed that the client disconnected.
    await watched.remaining();
    charged.resolve();
    expect(await endOf(watched)).toMatchObject({ message: 'answered', end: 'client_gone', tries: 0 });
    expect(await watched.remaining()).toBe(before - 1);
    expect(watched.gateway.upstream.requests).toEqual([]);
  });

  test('that reads slowly slows the upstream down (back-pressure), and gets everything in the end', async () => {
    await using watched = await startWatchedGateway({ environment: { KEEP_ALIVE_INTERVAL: '0.05' } });
    const { upstream } = watched.gateway;
    upstream.answer([...long, write(wire.chat.events.slice(-2).join(''))]);
    const response = await send(watched).answer;
    const asked = await upstream.arrival(0);
    expect(await bytesOnceStill(upstream, asked)).toBeLessThan(heldBySystem + 20 * mebibyte);
    await readSome(response, 10 * mebibyte);
    expect(await bytesOnceStill(upstream, asked)).toBeLessThan(heldBySystem + 20 * mebibyte);
    let taken = 0;
    for await (const chunk of response) taken += chunk.length;
    expect(taken).toBeGreaterThan(85 * mebibyte);
    expect(await endOf(watched)).toMatchObject({ end: 'complete' });
  });
});
