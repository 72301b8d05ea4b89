import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CommanderError } from 'commander';

import { createStopSwitch } from '../../../lambda/tables/stop-switch.ts';
import { json } from '../../../local/upstream/script.ts';

import type { TestGateway } from '../../support/gateway.ts';
import { type Asked, type Meddling, startMeddlingProxy } from '../../support/meddling-proxy.ts';
import { startGatewayOfMembers } from './gateway-of-members.ts';
import { checksOf, readRows, runDoctor } from './run-doctor.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGatewayOfMembers({ pace: 0 });
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** A clock that hardly moves, so that a busy machine does not fail tests that have nothing to do with time. */
const now = () => performance.now() / 1000;

test('a healthy gateway passes, for ten requests of quota', async () => {
  const ten = await gateway.issueKey({ limit: 10 });
  const before = gateway.log.length;
  const said = await runDoctor(['--base', `${gateway.url}/v1/`, '--key', ten, '--limit', '10'], { now });
  expect(said).toMatchObject({ thrown: undefined, code: 0 });
  expect(said.err).toBe('This takes 10 of the 10 requests that the key has left.\n');
  expect(said.out).toMatch(/\n✔ quota +each answer is charged once +10 charged for 10 answers, 0 of 10 left\n/);
  expect(said.out).toMatch(/\n✔ quota +the limit of the key +10 a day\n/);
  expect(said.out).toMatch(/\n\? chat +streams event by event +not tested: .* too fast to tell; .*\n/);
  expect(said.out).toMatch(/\nHealthy: 50 checks passed, 8 not tested\.\n$/);
  expect(said.out).not.toMatch(/[✘•]/);
  // Charged and not refunded.
  expect(gateway.log.slice(before).filter(({ refunded }) => refunded === false)).toHaveLength(10);
});

test('tests for which it lacks an option are left out, and it names the option', async () => {
  const key = await gateway.issueKey({ limit: 11 });
  const rows = readRows(await runDoctor(['--base', gateway.url, '--key', key, '--json'], { now }));
  const untested = rows.filter(({ mark }) => mark === 'untested');
  expect(untested.map(({ check, detail }) => `${check}: ${detail}`)).toEqual([
    ...Array(3).fill(expect.stringMatching(/^streams event by event: .*--length 400$/)),
    expect.stringMatching(/^silence is bridged: .*run it with a model that thinks for longer$/),
    expect.stringMatching(/^a quota that is spent: .*--spent-key \(PORT=\d+ npm run keys -- issue --limit 0\)$/),
    expect.stringMatching(/^too many in a minute: .*--spent-key/),
    expect.stringMatching(/^nothing else for a key: .*too little is left to see it fall$/),
    expect.stringMatching(/^the limit of the key: .*it is 11, and a member's 50; say --limit 11/),
    expect.stringMatching(/^no name anywhere: .*--names a,b$/),
  ]);
});

test('twice within a minute its verdict is the same, and it waits when it reaches the burst limit', async () => {
  let time = Date.now();
  await using tight = await startGatewayOfMembers({ pace: 0, environment: { BURST_LIMIT: '7' }, now: () => time });
  const key = await tight.issueKey();
  const spentKey = await tight.issueKey({ limit: 0 });
  const args = ['--base', tight.url, '--key', key, '--spent-key', spentKey, '--names', 'Quillon', '--json'];
  const waits: number[] = [];
  const wait = async (milliseconds: number) => {
    waits.push(milliseconds);
    time += milliseconds;
  };
  for (const left of [50, 40]) {
    const said = await runDoctor(args, { now, wait });
    expect(said.code).toBe(0);
    expect(said.err).toContain(`This takes 10 of the ${left} requests that the key has left.\n`);
    const rows = readRows(said);
    expect(rows.find(({ check }) => check === 'each answer is charged once')).toMatchObject({
      mark: 'ok',
      detail: `10 charged for 10 answers, ${left - 10} of 50 left`,
    });
    expect(rows.find(({ check }) => check === 'too many in a minute')?.mark).toBe('ok');
  }
  expect(waits.length).toBeGreaterThanOrEqual(2);
  for (const milliseconds of waits) expect(milliseconds).toBeLessThanOrEqual(60_000);
});

test('other users of the same quota are not blamed on the gateway', async () => {
  let asked = 0;
  const others: Meddling = {
    alsoAsks: ({ headers }: Asked) => {
      asked += 1;
      if (asked % 5 !== 0) return undefined;
      const body = JSON.stringify({ model: 'svc', messages: [{ role: 'user', content: 'Mine' }] });
      return { method: 'POST', path: '/v1/chat/completions', headers: { ...headers, 'x-api-key': key }, body };
    },
  };
  await using popular = await startGatewayOfMembers({ pace: 0, environment: { BURST_LIMIT: '1000' } });
  const key = await popular.issueKey();
  await using proxy = await startMeddlingProxy(popular.url, others);
  const rows = readRows(await runDoctor(['--base', proxy.url, '--key', key, '--json'], { now }));
  expect(checksOf(rows.filter(({ mark }) => mark === 'fail'))).toEqual([]);
  expect(rows.find(({ check }) => check === 'each answer is charged once')).toMatchObject({
    mark: 'untested',
    detail: expect.stringMatching(/: others use this quota too; run it with a key that has a limit of its own/),
  });
});

describe('nothing is spent', () => {
  const cases: [string, () => Promise<readonly string[]>, number, RegExp][] = [
    [
      'an unknown key',
      async () => [gateway.url, `ltk_${'y'.repeat(43)}`],
      3,
      /^error: the gateway does not accept this key: The API key is unknown, expired or revoked\. [^0-9]*\n$/,
    ],
    [
      'a key that lost its end',
      async () => [gateway.url, (await gateway.issueKey()).slice(0, -2)],
      3,
      /^error: the gateway does not accept this key: .* this one is not, with 45 characters in all\.\n$/,
    ],
    [
      'a key that lost its beginning, which the gateway takes for a guest',
      async () => [gateway.url, (await gateway.issueKey()).slice(1)],
      2,
      /^error: --key must begin with ltk_: to the gateway, anything else is a guest\n$/,
    ],
    ['a placeholder', async () => [gateway.url, 'placeholder'], 2, /^error: --key must begin with ltk_/],
    [
      'too little quota',
      async () => [gateway.url, await gateway.issueKey({ limit: 6 })],
      3,
      /^error: this takes 10 requests, and the key has 6 of 6 left; more in \d+ minutes\n$/,
    ],
    [
      'another server',
      async () => [gateway.upstream.url.replace(/\/v1$/, ''), 'ltk_any'],
      3,
      /^error: there is no gateway: GET \/v1\/models, it answered 500/,
    ],
    [
      'a server with other models',
      async () => {
        const models = json(200, { object: 'list', data: [{ id: 'other-70b' }, { id: 'eyes-vision' }] });
        gateway.upstream.answer(models);
        return [gateway.upstream.url.replace(/\/v1$/, ''), 'ltk_any'];
      },
      3,
      /^error: there is no gateway: GET \/v1\/models, it has no pair of models NAME and NAME-vision\n$/,
    ],
    ['no server', async () => ['http://127.0.0.1:9', 'ltk_any'], 3, /^error: GET \/v1\/models failed: /],
  ];
  test.each(cases)('on %s', async (_name, prepare, code, message) => {
    const [base = '', key = ''] = await prepare();
    const before = gateway.log.length;
    const said = await runDoctor(['--base', base, '--key', key], { now });
    expect(said.out).toBe('');
    expect(said.err).toMatch(message);
    expect(said.err).not.toContain(key.slice(8, 40) || key);
    expect(said.code).toBe(code);
    expect(gateway.log.slice(before).filter(({ route }) => route !== '/v1/models')).toEqual([]);
  });

  test('on a gateway that shows a guest’s figures for keys', async () => {
    const headers: Meddling['headers'] = (given) => ({ ...given, 'x-svc-remaining': '3', 'x-svc-limit': '3' });
    await using proxy = await startMeddlingProxy(gateway.url, { headers });
    const { err, code } = await runDoctor(['--base', proxy.url, '--key', await gateway.issueKey()], { now });
    expect([code, err]).toEqual([3, expect.stringMatching(/has 3 of 3 left.*; these are the figures of a guest\n$/)]);
  });

  test('on a stopped gateway', async () => {
    let time = Date.now();
    await using stopped = await startGatewayOfMembers({ pace: 0, now: () => time });
    const { callDynamoDb, keysTable } = stopped.dynamoDb;
    await createStopSwitch(callDynamoDb, keysTable).stop({ at: 'noon', reason: 'back soon' });
    time += 60_000;
    const { err, code } = await runDoctor(['--base', stopped.url, '--key', await stopped.issueKey()], { now });
    const why = 'The operator has stopped this gateway: back soon. Please try again later.';
    expect([code, err]).toEqual([3, `error: the gateway is not ready: ${why}\n`]);
  });

  test('on a gateway at another address', async () => {
    const location = 'https://gateway.example/v1/models';
    await using proxy = await startMeddlingProxy(gateway.url, { status: () => 301, headers: () => ({ location }) });
    const { err, code } = await runDoctor(['--base', proxy.url, '--key', 'ltk_any'], { now });
    expect([code, err]).toEqual([3, `error: there is no gateway: it redirects to ${location}\n`]);
  });

  test.each([
    [['--key', 'ltk_x'], "required option '--base <url>' not specified"],
    [['--base', 'gateway.example', '--key', 'ltk_x'], 'It must be an http(s) URL.'],
    [['--base', 'http://127.0.0.1:9', '--key', 'ltk_x', '--length', 'long'], 'It must be a whole number from 10 to'],
  ])('on wrong usage: %j', async (args, message) => {
    const { err, thrown } = await runDoctor(args);
    expect(thrown).toBeInstanceOf(CommanderError);
    expect(err).toContain(message);
  });
});

describe('the cdk.json of the checkout', () => {
  const defaults = {
    UPSTREAM_BASE_URL: 'https://upstream.example/v1',
    UPSTREAM_TEXT_MODEL: 'text-model',
    UPSTREAM_VISION_MODEL: 'vision-model',
  };
  const examine = async (readBlock: () => unknown, ...more: readonly string[]) =>
    runDoctor(['--base', gateway.url, '--key', await gateway.issueKey(), ...more], { now, readBlock });

  test('has the names that must not show', async () => {
    const block = { defaults: { ...defaults, UPSTREAM_NAMES: 'object' }, stages: { dev: {} } };
    const { out, code } = await examine(() => block);
    expect(code).toBe(1);
    expect(out).toMatch(/\n✘ hiding +no name anywhere +GET \/v1\/models.*: a key: object has object\n/);
    expect(out).toMatch(/\n✔ quota +the limit of a guest +3\n/);
  });

  test('has vendors among them that no sentence of the gateway’s own has', async () => {
    const block = { defaults: { ...defaults, UPSTREAM_NAMES: 'OpenAI,Anthropic' }, stages: { dev: {} } };
    const said = await examine(() => block, '--json');
    expect(readRows(said).filter(({ mark }) => mark === 'fail')).toEqual([]);
    expect(said.code).toBe(0);
  });

  test('has the limits of the stage', async () => {
    const block = { defaults, stages: { dev: {}, prod: { GUEST_LIMIT: 9 } } };
    const { out, code } = await examine(() => block, '--stage', 'prod');
    expect(code).toBe(1);
    expect(out).toMatch(/\n✘ quota +the limit of a guest +it is 3, and not 9\n/);
  });

  test('says whether anybody is served without a key', async () => {
    const block = { defaults, stages: { prod: { ACCESS: 'keys' } } };
    const { out, code } = await examine(() => block, '--stage', 'prod');
    expect(code).toBe(1);
    expect(out).toMatch(/\n✘ keys +a placeholder +is served, though the stage has ACCESS=keys\n/);
    await using closed = await startGatewayOfMembers({ pace: 0, environment: { ACCESS: 'keys' } });
    const args = ['--base', closed.url, '--key', await closed.issueKey(), '--stage', 'prod'];
    const healthy = await runDoctor(args, { now, readBlock: () => block });
    expect(healthy.code).toBe(0);
    expect(healthy.out).toMatch(/\n• keys +a placeholder +is refused: there are no guests\n/);
    expect(healthy.out).toMatch(/\n• quota +a guest is counted apart +there are no guests\n/);
    expect(healthy.out).toMatch(/\n• quota +nothing else for a guest +there are no guests\n/);
    expect(healthy.out).toMatch(/\n✔ quota +the limit of a guest +0\n/);
  });

  test('is ignored if it is wrong, unless a stage is given', async () => {
    const lenient = await examine(() => ({ stages: { dev: {} } }), '--json');
    expect(lenient.code).toBe(0);
    expect(lenient.err).toMatch(/^cdk\.json is ignored: gateway\.defaults: must be an object\n/);
    const { code, err } = await examine(() => ({ defaults, stages: { dev: {} } }), '--stage', 'prod');
    expect([code, err]).toEqual([3, 'error: cdk.json: gateway.stages: prod is no stage (there are: dev)\n']);
  });
});

test('a vision model that the upstream does not have is found', async () => {
  await using blind = await startGatewayOfMembers({ pace: 0, environment: { UPSTREAM_VISION_MODEL: 'quillon/none' } });
  const rows = readRows(await runDoctor(['--base', blind.url, '--key', await blind.issueKey(), '--json'], { now }));
  const failed = rows.filter(({ mark }) => mark === 'fail');
  expect(checksOf(failed)).toEqual(['chat: sees a picture']);
  expect(failed[0]?.detail).toMatch(/^answered 502 .*The gateway did not find the model\./);
});

describe('dialects that the upstream does not speak', () => {
  test('pass where the gateway translates them', async () => {
    await using chatOnly = await startGatewayOfMembers({ pace: 0, environment: { UPSTREAM_DIALECTS: 'chat' } });
    const said = await runDoctor(['--base', chatOnly.url, '--key', await chatOnly.issueKey()], { now });
    expect(said.code).toBe(0);
    for (const dialect of ['responses', 'messages']) {
      for (const check of ['answers', 'streams to the end', 'calls a tool']) {
        expect(said.out).toMatch(new RegExp(`\\n✔ ${dialect} +${check} `));
      }
    }
    expect(chatOnly.log.filter(({ translated }) => translated).length).toBeGreaterThanOrEqual(6);
  });

  const defaults = { UPSTREAM_BASE_URL: 'https://host/v1', UPSTREAM_TEXT_MODEL: 't', UPSTREAM_VISION_MODEL: 'v' };
  test.each([
    ['it is not asked to', {}, /leave it out of UPSTREAM_DIALECTS, and the gateway translates it$/],
    [
      'it is',
      { UPSTREAM_DIALECTS: 'chat' },
      /the gateway translates responses for this upstream: look up .*upstreams\.md$/,
    ],
  ])('fail with what to do where the gateway can not serve them though %s', async (_what, settings, advice) => {
    await using proxy = await startMeddlingProxy(gateway.url, {
      status: (status, { path }) => (path === '/v1/responses' && status === 200 ? 502 : status),
    });
    const readBlock = () => ({ defaults: { ...defaults, ...settings }, stages: { dev: {} } });
    const args = ['--base', proxy.url, '--key', await gateway.issueKey(), '--json'];
    const rows = readRows(await runDoctor(args, { now, readBlock }));
    const ofResponses = rows.filter(({ area, mark }) => area === 'responses' && mark === 'fail');
    expect(ofResponses.map(({ check }) => check)).toEqual(['answers', 'streams to the end', 'calls a tool']);
    for (const { detail } of ofResponses) expect(detail).toMatch(advice);
  });
});

test('a model that calls no tools is noted, with what to do', async () => {
  await using proxy = await startMeddlingProxy(gateway.url, {
    asks: (asked) => ({ ...asked, body: asked.body.replace('"tools":', '"metadata":{},"unused":') }),
  });
  const { out, code } = await runDoctor(['--base', proxy.url, '--key', await gateway.issueKey()], { now });
  expect(code).toBe(0);
  for (const dialect of ['chat', 'responses', 'messages']) {
    expect(out).toMatch(new RegExp(`\\n• ${dialect} +calls a tool +the model did not call .* choose another model\\n`));
  }
});

test('anything that the upstream or the operator does not offer is noted or left out, and is no failure', async () => {
  const origin = 'https://chat.example';
  await using named = await startGatewayOfMembers({
    pace: 0,
    environment: { CORS_ORIGINS: origin, GUEST_LIMIT: '0', BURST_LIMIT: '1000' },
  });
  await using proxy = await startMeddlingProxy(named.url, {
    status: (status, { path }) => (path.includes('count_tokens') && status === 200 ? 404 : status),
  });
  const args = ['--base', proxy.url, '--key', await named.issueKey()];
  const { out, code } = await runDoctor(args, { now });
  expect(code).toBe(0);
  expect(out).toMatch(/\n• keys +a placeholder +is refused: there are no guests\n/);
  expect(out).toMatch(/\n• messages +counts tokens +the upstream does not offer it\n/);
  expect(out).toMatch(/\n\? cors +preflight +not tested: only listed origins are allowed; name one with --origin\n/);
  expect((await runDoctor([...args, '--origin', origin], { now })).out).toMatch(
    /\n✔ cors +preflight +https:\/\/chat\.example is allowed\n/,
  );
});
