import { expect, test } from '@jest/globals';
import { empty, json } from '../../local/upstream/script.ts';
import { startFakeUpstream } from '../support/fake-upstream.ts';
import { startTestGateway } from '../support/gateway.ts';
import { messageOf } from '../support/strict-messages.ts';

const question = { role: 'user', content: 'Who?' };
const environment = { GUEST_LIMIT: '1000', MEMBER_LIMIT: '900', BURST_LIMIT: '600' };

test('each upstream says for itself whether it signs its thoughts', async () => {
  await using second = await startFakeUpstream();
  await using gateway = await startTestGateway({
    environment: {
      ...environment,
      ...{ UPSTREAM_2_BASE_URL: second.url, UPSTREAM_2_TEXT_MODEL: 'm', UPSTREAM_2_VISION_MODEL: 'm' },
      ...{ UPSTREAM_2_API_KEYS: 'upstream-key-two', UPSTREAM_2_SIGNS_THINKING: 'true' },
    },
  });
  const said = json(200, messageOf([{ thinking: 'I am Thunder.' }]));
  gateway.upstream.answer(said, empty(500));
  second.answer(said);
  const key = await gateway.issueKey();
  const shown: string[] = [];
  for (const _ of [1, 2]) {
    const body = { model: 'svc', max_tokens: 9, messages: [question] };
    const response = await gateway.post('/v1/messages', body, { 'x-api-key': key });
    shown.push(Object(await response.json()).content[0].thinking);
  }
  expect(shown).toEqual(['I am svc.', 'I am Thunder.']);
});
