import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { createIncomingBody } from '../../../lambda/engines/incoming-body.ts';
import { unlimitedMemory } from '../../../lambda/request/memory.ts';
import { turnEventLoop } from '../../support/wait-until.ts';

/** How a connection is paused and resumed while a body arrives, with this many chunks in one read. */
async function toldWhileReading(chunks: number): Promise<string[]> {
  const told: string[] = [];
  const socket = { pause: () => told.push('pause'), resume: () => told.push('resume') };
  const request = new Readable({ read() {} });
  Object.assign(request, { socket, headers: { 'transfer-encoding': 'chunked' } });
  const { signal } = new AbortController();
  const options = { limit: 10_000, memory: unlimitedMemory, shutdownSignal: signal, ask: undefined };
  const size = createIncomingBody(request as unknown as IncomingMessage, options).receive();
  for (let count = 0; count < chunks; count += 1) request.push('x');
  await new Promise(process.nextTick);
  told.push('the end of the turn');
  await turnEventLoop(2);
  request.push(null);
  expect(await size).toBe(chunks);
  return told;
}

test('after a read with very many chunks, other connections get a turn', async () => {
  expect(await toldWhileReading(100)).toEqual(['the end of the turn']);
  expect(await toldWhileReading(1_000)).toEqual(['pause', 'the end of the turn', 'resume']);
});
