import { expect, test } from '@jest/globals';
import { createPost } from '../../../lambda/store/post.ts';
import { answer, startFakeService } from '../../support/fake-service.ts';

test('what is given up before it is sent never is', async () => {
  await using service = await startFakeService(answer(200, '{}'));
  const post = createPost(new URL(service.url));
  await expect(post({}, '{}', AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
  await post({}, '{}', undefined);
  expect(service.requests).toHaveLength(1);
});
