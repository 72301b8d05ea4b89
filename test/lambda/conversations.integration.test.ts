import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { empty, json, type Script } from '../../local/upstream/script.ts';
import { conversations, type TestConversation } from '../support/conversations.ts';
import { startFakeUpstream } from '../support/fake-upstream.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { testRows } from '../support/test-rows.ts';

const keys = ['upstream-key-a', 'upstream-key-b', 'upstream-key-c'];
const environment = { UPSTREAM_API_KEYS: keys.join(','), GUEST_LIMIT: '100000', BURST_LIMIT: '10000' };
const plain = { id: 'x', type: 'message', object: 'response', choices: [], content: [], output: [] };

type Kind = keyof typeof conversations;
const kinds = Object.keys(conversations) as Kind[];

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ environment });
  gateway.upstream.otherwise(json(200, plain));
});
afterAll(() => gateway[Symbol.asyncDispose]());

interface Sending {
  readonly turn?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly to?: TestGateway;
}

const send = ({ path, turn }: TestConversation, { turn: number = 1, headers = {}, to = gateway }: Sending = {}) => {
  const sent = turn(number);
  return to.post(path, sent.body, { 'x-api-key': 'guest', ...sent.headers, ...headers });
};

/** The key that a request came with. */
const keyOf = async (conversation: TestConversation, sending: Sending = {}) => {
  const { upstream } = sending.to ?? gateway;
  expect((await send(conversation, sending)).status).toBe(200);
  return upstream.requests.at(-1)?.headers.authorization?.replace('Bearer ', '');
};

describe.each(kinds)('a conversation of %s', (kind) => {
  const converse = conversations[kind];

  test('goes to one key on all its turns, and in another environment too', async () => {
    await using other = await startTestGateway({ environment });
    other.upstream.otherwise(json(200, plain));
    const seen = new Set<string | undefined>();
    for (let turn = 1; turn <= 6; turn += 1) {
      seen.add(await keyOf(converse('one'), { turn }));
      seen.add(await keyOf(converse('one'), { turn, to: other }));
    }
    expect(seen.size).toBe(1);
  });
});

test('all keys of one member are one caller', async () => {
  const seen = new Set<string | undefined>();
  for (let index = 0; index < 6; index += 1) {
    const key = await gateway.issueKey({ member: 'the-same' });
    seen.add(await keyOf(conversations.codex('one'), { headers: { 'x-api-key': key } }));
  }
  expect(seen.size).toBe(1);
});

describe('content bound to the account that failed', () => {
  async function startTwo(first: Script, second: Script) {
    await using started = new AsyncDisposableStack();
    const fallback = started.use(await startFakeUpstream());
    const two = started.use(
      await startTestGateway({
        environment: {
          ...environment,
          UPSTREAM_API_KEYS: 'upstream-key-a',
          UPSTREAM_2_BASE_URL: fallback.url,
          UPSTREAM_2_API_KEYS: 'upstream-key-x',
          UPSTREAM_2_TEXT_MODEL: 'acmecorp/second',
          UPSTREAM_2_VISION_MODEL: 'acmecorp/second',
        },
      }),
    );
    two.upstream.otherwise(first);
    fallback.otherwise(second);
    const running = started.move();
    return { two, [Symbol.asyncDispose]: () => running.disposeAsync() };
  }
  const foreign = json(400, { error: { message: 'invalid_encrypted_content', code: 'invalid_encrypted_content' } });
  const outcome = (response: Response) => [response.status, response.headers.get('x-svc-error')];

  testRows(['codex', 'claude-code'] as const)('does not make an outage the caller’s 400', async (kind) => {
    await using world = await startTwo(empty(500), foreign);
    const response = await send(conversations[kind]('one'), { turn: 6, to: world.two });
    expect(outcome(response)).toEqual([500, 'upstream_error']);
    expect(response.headers.get('x-svc-remaining')).toBe('100000');
  });
});
