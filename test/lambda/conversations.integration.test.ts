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

  test('and others spread over all keys', async () => {
    const seen = new Set<string | undefined>();
    for (let session = 0; session < 20; session += 1) seen.add(await keyOf(converse(`${session}`)));
    expect(seen).toEqual(new Set(keys));
  });

  test('moves while its key rests, and no other conversation does', async () => {
    const clock = { now: Date.UTC(2026, 5, 15, 12) };
    await using moving = await startTestGateway({ environment, now: () => clock.now });
    moving.upstream.otherwise(json(200, plain));
    const to = moving;
    const homes = new Map<string, string | undefined>();
    for (let session = 0; session < 12; session += 1) {
      homes.set(`${session}`, await keyOf(converse(`${session}`), { to }));
    }
    const resting = homes.get('0');
    moving.upstream.answer(empty(429, { 'retry-after': '30' }));
    expect(await keyOf(converse('0'), { turn: 2, to })).not.toBe(resting);
    for (const [session, home] of homes) {
      const key = await keyOf(converse(session), { turn: 3, to });
      if (home === resting) expect(key).not.toBe(resting);
      else expect(key).toBe(home);
    }
    clock.now += 30_000;
    for (const [session, home] of homes) expect(await keyOf(converse(session), { turn: 4, to })).toBe(home);
  });
});

test('a session’s header comes before anything else, and does not go upstream', async () => {
  const names = ['x-claude-code-session-id', 'session-id', 'session_id', 'thread-id', 'x-session-affinity'];
  for (const name of [...names, 'x-opencode-session', 'x-session-id']) {
    const seen = new Set<string | undefined>();
    for (let turn = 1; turn <= 6; turn += 1) {
      seen.add(await keyOf(conversations.codex(`another ${turn}`), { turn, headers: { [name]: 'the-session' } }));
      expect(JSON.stringify(gateway.upstream.requests.at(-1)?.headers)).not.toContain('the-session');
    }
    expect([name, seen.size]).toEqual([name, 1]);
  }
});

test('callers with the same words are spread over the keys', async () => {
  const seen = new Set<string | undefined>();
  for (let member = 0; member < 20; member += 1) {
    const key = await gateway.issueKey({ member: `member ${member}` });
    seen.add(await keyOf(conversations.hintless('same'), { headers: { 'x-api-key': key } }));
  }
  expect(seen).toEqual(new Set(keys));
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

  testRows(kinds)('a first turn has no history, and gets the upstream’s 400', async (kind) => {
    await using world = await startTwo(empty(500), foreign);
    const response = await send(conversations[kind]('one'), { to: world.two });
    expect(outcome(response)).toEqual([400, 'invalid_request']);
  });

  test('a 400 of the content’s own account is the caller’s', async () => {
    await using world = await startTwo(foreign, json(200, plain));
    const response = await send(conversations.codex('one'), { turn: 6, to: world.two });
    expect(outcome(response)).toEqual([400, 'invalid_request']);
  });
});
