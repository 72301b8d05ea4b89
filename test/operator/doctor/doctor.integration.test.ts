import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CommanderError } from 'commander';
import { createStopSwitch } from '../../../lambda/tables/stop-switch.ts';
import { json } from '../../../local/upstream/script.ts';
import type { TestGateway } from '../../support/gateway.ts';
import type { Meddling } from '../../support/meddling-proxy.ts';
import { startGatewayOfMembers } from './gateway-of-members.ts';
import { checksOf, examine, failedIn, readRows, requiredSettings, runDoctor } from './run-doctor.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGatewayOfMembers({ pace: 0 });
});
afterAll(() => gateway[Symbol.asyncDispose]());

test('a healthy gateway passes, for ten requests of quota', async () => {
  const ten = await gateway.issueKey({ limit: 10 });
  const before = gateway.log.length;
  // Vendors whose names no sentence of the gateway's own has.
  const names = ['--names', 'OpenAI,Anthropic'];
  const said = await runDoctor(['--base', `${gateway.url}/v1/`, '--key', ten, '--limit', '10', ...names]);
  expect(said).toMatchObject({ thrown: undefined, code: 0 });
  expect(said.err).toBe('This takes 10 of the 10 requests that the key has left.\n');
  expect(said.out).toMatch(/\n✔ quota +each answer is charged once +10 charged for 10 answers, 0 of 10 left\n/);
  expect(said.out).toMatch(/\n✔ quota +the limit of the key +10 a day\n/);
  expect(said.out).toMatch(/\n\? chat +streams event by event +not tested: .* too fast to tell; .*\n/);
  expect(said.out).toMatch(/\nHealthy: 51 checks passed, 7 not tested\.\n$/);
  expect(said.out).not.toMatch(/[✘•]/);
  // Charged and not refunded.
  expect(gateway.log.slice(before).filter(({ refunded }) => refunded === false)).toHaveLength(10);
});

test('tests for which it lacks an option are left out, and it names the option', async () => {
  const key = await gateway.issueKey({ limit: 11 });
  const rows = readRows(await runDoctor(['--base', gateway.url, '--key', key, '--json']));
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
    const said = await runDoctor(args, { wait });
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
  let key = '';
  const others: Meddling = {
    alsoAsks: ({ headers }) => {
      key ||= /ltk_[\w-]+/.exec(`${headers.authorization}`)?.[0] ?? '';
      asked += 1;
      if (asked % 5 !== 0) return undefined;
      const body = JSON.stringify({ model: 'svc', messages: [{ role: 'user', content: 'Mine' }] });
      return { method: 'POST', path: '/v1/chat/completions', headers: { ...headers, 'x-api-key': key }, body };
    },
  };
  await using popular = await startGatewayOfMembers({ pace: 0, environment: { BURST_LIMIT: '1000' } });
  const said = await examine(popular, ['--json'], { meddling: others });
  expect(failedIn(said)).toEqual([]);
  expect(readRows(said).find(({ check }) => check === 'each answer is charged once')).toMatchObject({
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
    const said = await runDoctor(['--base', base, '--key', key]);
    expect(said.out).toBe('');
    expect(said.err).toMatch(message);
    expect(said.err).not.toContain(key.slice(8, 40) || key);
    expect(said.code).toBe(code);
    expect(gateway.log.slice(before).filter(({ route }) => route !== '/v1/models')).toEqual([]);
  });

  test('on a gateway that shows a guest’s figures for keys', async () => {
    const headers: Meddling['headers'] = (given) => ({ ...given, 'x-svc-remaining': '3', 'x-svc-limit': '3' });
    const { err, code } = await examine(gateway, [], { meddling: { headers } });
    expect([code, err]).toEqual([3, expect.stringMatching(/has 3 of 3 left.*; these are the figures of a guest\n$/)]);
  });

  test('on a stopped gateway', async () => {
    let time = Date.now();
    await using stopped = await startGatewayOfMembers({ pace: 0, now: () => time });
    const { callDynamoDb, keysTable } = stopped.dynamoDb;
    await createStopSwitch(callDynamoDb, keysTable).stop({ at: 'noon', reason: 'back soon' });
    time += 60_000;
    const { err, code } = await examine(stopped, []);
    const why = 'The operator has stopped this gateway: back soon. Please try again later.';
    expect([code, err]).toEqual([3, `error: the gateway is not ready: ${why}\n`]);
  });

  test('on a gateway at another address', async () => {
    const location = 'https://gateway.example/v1/models';
    const meddling: Meddling = { status: () => 301, headers: () => ({ location }) };
    const { err, code } = await examine(gateway, [], { meddling });
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
  const closedBlock = { defaults: requiredSettings, stages: { prod: { ACCESS: 'keys', UPSTREAM_NAMES: 'object' } } };

  test('has the names that must not show, and the limits of the stage', async () => {
    const { out, code } = await examine(gateway, ['--stage', 'prod'], { block: closedBlock });
    expect(code).toBe(1);
    expect(out).toMatch(/\n✘ hiding +no name anywhere +GET \/v1\/models.*: a key: object has object\n/);
    expect(out).toMatch(/\n✘ quota +the limit of a guest +it is 3, and not 0\n/);
    expect(out).toMatch(/\n✘ keys +a placeholder +is served, though the stage has ACCESS=keys\n/);
  });

  test('says whether anybody is served without a key', async () => {
    const block = { defaults: requiredSettings, stages: { prod: { ACCESS: 'keys' } } };
    const origin = 'https://chat.example';
    await using closed = await startGatewayOfMembers({
      pace: 0,
      environment: { ACCESS: 'keys', CORS_ORIGINS: origin },
    });
    const { out, code } = await examine(closed, ['--stage', 'prod', '--origin', origin], { block });
    expect(code).toBe(0);
    expect(out).toMatch(/\n• keys +a placeholder +is refused: there are no guests\n/);
    expect(out).toMatch(/\n• quota +a guest is counted apart +there are no guests\n/);
    expect(out).toMatch(/\n• quota +nothing else for a guest +there are no guests\n/);
    expect(out).toMatch(/\n✔ quota +the limit of a guest +0\n/);
    expect(out).toMatch(/\n✔ cors +preflight +https:\/\/chat\.example is allowed\n/);
  });

  test('is ignored if it is wrong, unless a stage is given', async () => {
    const lenient = await examine(gateway, [], { block: { stages: { dev: {} } } });
    expect(lenient.code).toBe(0);
    expect(lenient.err).toMatch(/^cdk\.json is ignored: gateway\.defaults: must be an object\n/);
    const block = { defaults: requiredSettings, stages: { dev: {} } };
    const { code, err } = await examine(gateway, ['--stage', 'prod'], { block });
    expect([code, err]).toEqual([3, 'error: cdk.json: gateway.stages: prod is no stage (there are: dev)\n']);
  });
});

test('a vision model that the upstream does not have is found', async () => {
  await using blind = await startGatewayOfMembers({ pace: 0, environment: { UPSTREAM_VISION_MODEL: 'quillon/none' } });
  const failed = failedIn(await examine(blind, ['--json']));
  expect(checksOf(failed)).toEqual(['chat: sees a picture']);
  expect(failed[0]?.detail).toMatch(/^answered 502 .*The gateway did not find the model\./);
});

describe('dialects that the upstream does not speak', () => {
  test('pass where the gateway translates them', async () => {
    await using chatOnly = await startGatewayOfMembers({ pace: 0, environment: { UPSTREAM_DIALECTS: 'chat' } });
    const said = await examine(chatOnly, []);
    expect(said.code).toBe(0);
    for (const dialect of ['responses', 'messages']) {
      for (const check of ['answers', 'streams to the end', 'calls a tool']) {
        expect(said.out).toMatch(new RegExp(`\\n✔ ${dialect} +${check} `));
      }
    }
    expect(chatOnly.log.filter(({ translated }) => translated).length).toBeGreaterThanOrEqual(6);
  });

  test.each([
    ['it is not asked to', {}, /leave it out of UPSTREAM_DIALECTS, and the gateway translates it$/],
    [
      'it is',
      { UPSTREAM_DIALECTS: 'chat' },
      /the gateway translates responses for this upstream: look up .*upstreams\.md$/,
    ],
  ])('fail with what to do where the gateway can not serve them though %s', async (_what, settings, advice) => {
    const meddling: Meddling = {
      status: (status, { path }) => (path === '/v1/responses' && status === 200 ? 502 : status),
    };
    const block = { defaults: { ...requiredSettings, ...settings }, stages: { dev: {} } };
    const failed = failedIn(await examine(gateway, ['--json'], { meddling, block }));
    const ofResponses = failed.filter(({ area }) => area === 'responses');
    expect(ofResponses.map(({ check }) => check)).toEqual(['answers', 'streams to the end', 'calls a tool']);
    for (const { detail } of ofResponses) expect(detail).toMatch(advice);
  });
});

test('anything that the upstream, its model or the operator does not offer is noted or left out, and is no failure', async () => {
  const environment = { CORS_ORIGINS: 'https://chat.example', GUEST_LIMIT: '0' };
  await using named = await startGatewayOfMembers({ pace: 0, environment });
  const meddling: Meddling = {
    status: (status, { path }) => (path.includes('count_tokens') && status === 200 ? 404 : status),
    asks: (asked) => ({ ...asked, body: asked.body.replace('"tools":', '"metadata":{},"unused":') }),
  };
  const { out, code } = await examine(named, [], { meddling });
  expect(code).toBe(0);
  expect(out).toMatch(/\n• keys +a placeholder +is refused: there are no guests\n/);
  expect(out).toMatch(/\n• messages +counts tokens +the upstream does not offer it\n/);
  expect(out).toMatch(/\n\? cors +preflight +not tested: only listed origins are allowed; name one with --origin\n/);
  for (const dialect of ['chat', 'responses', 'messages']) {
    expect(out).toMatch(new RegExp(`\\n• ${dialect} +calls a tool +the model did not call .* choose another model\\n`));
  }
});
