import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CommanderError } from 'commander';
import { createStopSwitch } from '../../../lambda/store/admin/stop-switch.ts';
import { json } from '../../../local/upstream/script.ts';
import { createProbe, list } from '../../../operator/doctor/probe.ts';
import { now } from '../../support/clock.ts';
import { startFakeService } from '../../support/fake-service.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { type Meddling, startMeddlingProxy } from '../../support/meddling-proxy.ts';
import { detailsOf, examine, runDoctor, startGatewayOfMembers } from './run-doctor.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGatewayOfMembers();
});
afterAll(() => gateway[Symbol.asyncDispose]());

const dialects = ['chat', 'responses', 'messages'];

test('a healthy gateway passes, for eleven requests of quota', async () => {
  const key = await gateway.issueKey({ limit: 11 });
  const before = gateway.log.length;
  // Vendors whose names no sentence of the gateway's own has.
  const { out, err, thrown } = await runDoctor(['--base', `${gateway.url}/v1/`, '--key', key, '--names', 'OpenAI']);
  expect([thrown, err]).toEqual([undefined, 'This takes 11 of the 11 requests that the key has left.\n']);
  expect(out).toMatch(/\n✔ quota {6}each answer is charged once 11 answers, 0 left\n/);
  expect(out).toMatch(/\n\? chat +streams event by event +not tested: .* too fast to tell\n/);
  expect(out).not.toMatch(/[✘•]/);
  expect(out.match(/^\?/gm)).toHaveLength(4);
  expect(out).toMatch(/\n\nHealthy: no check failed\.\n$/);
  // Charged and not refunded.
  expect(gateway.log.slice(before).filter(({ refunded }) => refunded === false)).toHaveLength(11);
});

test('a gateway that translates passes as well, and is waited for where its burst limit is reached', async () => {
  let time = now();
  const environment = { UPSTREAM_DIALECTS: 'chat', BURST_LIMIT: '7' };
  await using tight = await startGatewayOfMembers({ environment, now: () => time });
  const waits: number[] = [];
  const wait = async (milliseconds: number) => {
    waits.push(milliseconds);
    time += milliseconds;
  };
  expect(detailsOf(await examine(tight, [], { wait }))).toEqual({});
  expect(tight.log.filter(({ translated }) => translated).length).toBeGreaterThanOrEqual(6);
  expect(waits.length).toBeGreaterThan(0);
  for (const milliseconds of waits) expect(milliseconds).toBeLessThanOrEqual(60_000);
});

test('nothing that a server sent is obeyed by a terminal that shows the JSON, which has all of it', async () => {
  const foreign = 'a\u009b2Jb';
  await using proxy = await startMeddlingProxy(gateway.url, {
    headers: (headers) => ({ ...headers, 'x-foreign': foreign }),
  });
  const { out } = await runDoctor(['--base', proxy.url, '--key', await gateway.issueKey(), '--json']);
  expect(out).not.toMatch(/[^\P{C}\n]/u);
  expect(detailsOf(JSON.parse(out).rows)).toEqual({
    'hiding: no foreign header': expect.stringMatching(/x-foreign: a.?\u009b2Jb$/),
  });
});

describe('nothing is spent', () => {
  test.each<[string, () => Promise<readonly string[]>, RegExp]>([
    [
      'an unknown key',
      async () => [gateway.url, `ltk_${'y'.repeat(43)}`],
      /^the gateway does not accept this key: The API key is unknown, expired or revoked\./,
    ],
    [
      'too little quota',
      async () => [gateway.url, await gateway.issueKey({ limit: 10 })],
      /^this takes 11 requests, and the key has 10 left$/,
    ],
    [
      'another server',
      async () => [gateway.upstream.url.replace(/\/v1$/, ''), 'ltk_any'],
      /^there is no gateway: GET \/v1\/models, it answered 500/,
    ],
    [
      'a server with other models',
      async () => {
        gateway.upstream.answer(json(200, { object: 'list', data: [{ id: 'other-70b' }, { id: 'eyes-vision' }] }));
        return [gateway.upstream.url.replace(/\/v1$/, ''), 'ltk_any'];
      },
      /^there is no gateway: no models NAME and NAME-vision are listed$/,
    ],
    ['no server', async () => ['http://127.0.0.1:9', 'ltk_any'], /^GET \/v1\/models failed: bad port$/],
  ])('on %s', async (_name, prepare, message) => {
    const [base = '', key = ''] = await prepare();
    const before = gateway.log.length;
    const { out, err, thrown } = await runDoctor(['--base', base, '--key', key]);
    expect([out, err, thrown?.message]).toEqual(['', '', expect.stringMatching(message)]);
    expect(thrown?.message).not.toContain(key.slice(8, 40) || key);
    expect(gateway.log.slice(before).filter(({ route }) => route !== '/v1/models')).toEqual([]);
  });

  test('on a stopped gateway', async () => {
    let time = now();
    await using stopped = await startGatewayOfMembers({ now: () => time });
    const { documents, keysTable } = stopped.dynamoDb;
    await createStopSwitch(documents, keysTable).stop({ at: 'noon', reason: 'back soon' });
    time += 60_000;
    await expect(examine(stopped)).rejects.toThrow(
      'the gateway is not ready: The operator has stopped this gateway: back soon. Please try again later.',
    );
  });

  test('on a gateway whose upstream has no key', async () => {
    await using bare = await startGatewayOfMembers({ environment: { UPSTREAM_API_KEYS: '' } });
    await expect(examine(bare)).rejects.toThrow(
      'the gateway is not ready: This gateway has no upstream key yet: its operator has to set one. ' +
        'Store UPSTREAM_API_KEYS in its UpstreamSecret (docs/deploy.md), or set it where the gateway runs.',
    );
  });

  test('on a gateway at another address', async () => {
    const location = 'https://gateway.example/v1/models';
    const meddling: Meddling = { status: () => 301, headers: () => ({ location }) };
    await expect(examine(gateway, [], { meddling })).rejects.toThrow(
      `there is no gateway: it redirects to ${location}`,
    );
  });

  test('on a server whose words a terminal would obey', async () => {
    const elsewhere: Meddling = { status: () => 301, headers: () => ({ location: 'https://\u009b2J' }) };
    await expect(examine(gateway, [], { meddling: elsewhere })).rejects.toThrow(/it redirects to https:\/\/.?\?2J$/);
    const worded: Meddling = { status: () => 401, text: () => '{"error":{"message":"\\u001b[2J\u202eno"}}' };
    await expect(examine(gateway, [], { meddling: worded })).rejects.toThrow('accept this key: ?[2J?no');
  });

  test('on a server that never answers', async () => {
    await using silent = await startFakeService(() => {});
    await expect(createProbe(silent.url, () => 0, 100)(list())).rejects.toThrow(
      'GET /v1/models failed: no answer within 0.1 s',
    );
  });

  test.each([
    [['--key', 'ltk_x'], "required option '--base <url>' not specified"],
    [['--base', 'gateway.example', '--key', 'ltk_x'], 'It must be an http(s) URL.'],
    [['--base', 'http://127.0.0.1:9'], "give one of the gateway's with --key, or set GATEWAY_KEY to it"],
    // It may be a key that lost its beginning, so it is not repeated.
    [
      ['--base', 'http://127.0.0.1:9', '--key', 'tk_secret'],
      'error: --key must begin with ltk_: to the gateway, anything else is a guest\n',
    ],
  ])('on wrong usage: %j', async (args, message) => {
    const { err, thrown } = await runDoctor(args);
    expect(thrown).toBeInstanceOf(CommanderError);
    expect(err).toContain(message);
    expect(err).not.toContain('secret');
  });

  test('on a stage in a folder without cdk.json', async () => {
    await expect(examine(gateway, ['--stage', 'dev'], { folder: 'nowhere' })).rejects.toThrow(
      /^--stage is read from cdk\.json \(ENOENT: .*\): run this in the gateway's checkout$/,
    );
  });
});

test('a proxy that takes the quota headers away is no reason to count with what is no number', async () => {
  const meddling: Meddling = {
    headers: (headers) => Object.fromEntries(Object.entries(headers).filter(([name]) => !/^x-svc-/.test(name))),
    drops: ({ path }) => !/^\/v1\/(models|messages\/count_tokens)$/.test(path),
  };
  const printed: string[] = [];
  const rows = await examine(gateway, [], { meddling, printError: (text) => printed.push(text) });
  expect(printed).toEqual(['This takes 11 requests. The gateway does not say how many the key has left.\n']);
  expect(detailsOf(rows)).toMatchObject({
    'messages: can be asked': expect.stringMatching(/^POST \/v1\/messages failed: /),
    'quota: nothing else is charged': 'the gateway does not say what is left',
  });
  expect(JSON.stringify(rows)).not.toContain('NaN');
});

test('the stage says what must not show, and whether there are guests', async () => {
  const stage = { ACCESS: 'keys', UPSTREAM_NAMES: 'object', APP_URL: 'http://127.0.0.1:9' };
  const rows = await examine(gateway, [], { stage });
  expect(detailsOf(rows)).toEqual({
    'sign-in: can be asked': 'GET /cli/info failed: bad port',
    'keys: a placeholder': 'is served, though the stage has ACCESS=keys',
    'hiding: no name anywhere': expect.stringMatching(/^GET \/v1\/models: a key: object has object$/),
    'quota: the limits': '50 for the key, 3 for a placeholder, but a guest has 0',
  });
  expect(detailsOf(rows, 'note')).toMatchObject({
    'hiding: names in code': expect.stringMatching(/^object is also hidden in code/),
  });
  await expect(examine(gateway, ['--stage', 'prod'], { stage: {} })).rejects.toThrow('prod is no stage');
});

describe('what the upstream lacks is found with what to do', () => {
  const meddling: Meddling = {
    status: (status, { path }) => (path === '/v1/responses' && status === 200 ? 502 : status),
  };
  const inResponses = (advice: RegExp) => ({
    'responses: answers': expect.stringMatching(advice),
    'responses: streams to the end': expect.stringMatching(advice),
    'responses: calls a tool': expect.stringMatching(advice),
    'quota: failures are refunded': expect.stringMatching(/^POST \/v1\/responses answered 502, and was charged; if/),
  });

  test('a vision model, and a dialect', async () => {
    await using blind = await startGatewayOfMembers({ environment: { UPSTREAM_VISION_MODEL: 'quillon/none' } });
    expect(detailsOf(await examine(blind, [], { meddling }))).toEqual({
      'chat: sees a picture': expect.stringMatching(/^answered 502 .*The gateway did not find the model\./),
      ...inResponses(/leave it out of UPSTREAM_DIALECTS, and the gateway translates it$/),
    });
  });

  test('no dialect at all, which the gateway could not translate either', async () => {
    await using lost = await startGatewayOfMembers({ environment: { UPSTREAM_TEXT_MODEL: 'quillon/none' } });
    const details = detailsOf(await examine(lost));
    expect(Object.keys(details)).toHaveLength(9);
    for (const detail of Object.values(details))
      expect(detail).toMatch(/; no dialect has answered .*log.*failures\.md/);
  });

  test('a dialect that the gateway translates; and limits that the stage does not have are noted', async () => {
    const rows = await examine(gateway, [], { meddling, stage: { UPSTREAM_DIALECTS: 'chat', MEMBER_LIMIT: '60' } });
    const advice = /the gateway translates responses for this upstream: look up .*upstreams\.md$/;
    expect(detailsOf(rows)).toEqual(inResponses(advice));
    const limits = expect.stringMatching(
      /^50 for the key, 3 for a placeholder: right if the key has a limit of its own$/,
    );
    expect(detailsOf(rows, 'note')).toMatchObject({ 'quota: the limits': limits });
  });
});

test('what the upstream, its model or the operator does not offer is noted or left out, and is no failure', async () => {
  const environment = { CORS_ORIGINS: 'https://chat.example', ACCESS: 'keys' };
  await using named = await startGatewayOfMembers({ environment });
  const meddling: Meddling = {
    status: (status, { path }) => (path.includes('count_tokens') && status === 200 ? 404 : status),
    asks: (asked) => ({ ...asked, body: asked.body.replace('"tools":', '"metadata":{},"unused":') }),
    text: (text) => text.replaceAll('"usage":', '"spent":'),
  };
  const rows = await examine(named, [], { meddling });
  expect(detailsOf(rows)).toEqual({});
  const calls = expect.stringMatching(/^the model did not call the tool .* choose another model$/);
  expect(detailsOf(rows, 'note')).toEqual({
    ...Object.fromEntries(dialects.map((dialect) => [`${dialect}: calls a tool`, calls])),
    'keys: a placeholder': 'is refused: there are no guests',
    'messages: counts tokens': 'the upstream does not offer it',
  });
  const untested = detailsOf(rows, 'untested');
  for (const dialect of dialects) expect(untested[`${dialect}: reports usage`]).toMatch(/ has usage; check whether/);
  expect(untested).toMatchObject({
    'cors: preflight': 'not tested: only listed origins are allowed; name one with --origin',
    'hiding: no name anywhere': 'not tested: say what must not appear, by --stage or --names a,b',
  });
});
