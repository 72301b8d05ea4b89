import { getEventListeners } from 'node:events';
import { expect, test } from '@jest/globals';
import { createPost } from '../../../lambda/store/post.ts';
import { answer, startFakeService } from '../../support/fake-service.ts';
import { waitUntil } from '../../support/wait-until.ts';

test('a call given up before it is sent is never sent', async () => {
  await using service = await startFakeService(answer(200, '{}'));
  const post = createPost(new URL(service.url));
  await expect(post({}, '{}', AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
  await post({}, '{}', undefined);
  expect(service.requests).toHaveLength(1);
});

test('a call that has its answer has no listeners left', async () => {
  const controller = new AbortController();
  await using service = await startFakeService((response, { socket }) => {
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
    response.end('{}');
    socket.end();
  });
  await createPost(new URL(service.url))({ connection: 'close' }, '{}', controller.signal);
  await waitUntil(() => getEventListeners(controller.signal, 'abort').length === 0, 'nothing listens');
});

test('an answer that breaks off does not count, and old connections are not to blame', async () => {
  await using service = await startFakeService(answer(200, '{}'), (response, { socket }) => {
    response.writeHead(200, { 'content-length': '100' }).write('{', () => socket.destroy());
  });
  const post = createPost(new URL(service.url));
  await post({}, '{}', undefined);
  const broken = post({}, '{}', undefined);
  await expect(broken).rejects.toMatchObject({ name: 'NoAnswer', onKeptConnection: false });
  expect(service.requests[1]?.socket).toBe(service.requests[0]?.socket);
});

test('an impossibly large answer is not read to its end', async () => {
  await using service = await startFakeService(answer(200, 'a'.repeat(1024 * 1024 + 1)));
  const post = createPost(new URL(service.url));
  await expect(post({}, '{}', undefined)).rejects.toMatchObject({ message: 'the answer is too large' });
});
