import { describe, expect, test } from '@jest/globals';
import { startTestGateway } from '../../support/gateway.ts';
import { type Manners, startPlatform } from './platform.ts';
import { findings, runProbe } from './run-probe.ts';

const server = { clientAddress: 'x-forwarded-for' } as const;

/** Examines a real gateway on the HTTP server, behind a platform that behaves like this. */
async function probe(
  manners: Manners,
  { environment = {}, args = [] }: { environment?: object; args?: string[] } = {},
) {
  await using gateway = await startTestGateway({ engine: 'web', server, environment: { ...environment } });
  await using platform = await startPlatform(gateway.url, manners);
  const said = await runProbe('--base', platform.url, '--json', ...args);
  return { ...said, seen: platform.seen };
}

describe('a gateway behind a platform', () => {
  test('that behaves as AWS documents it has no faults', async () => {
    const said = await probe({}, { args: ['--throttle', '50'] });
    expect([said.code, findings(said)]).toEqual([
      0,
      {
        'address: a forged address': 'ok 2 of 3 left, whatever is forged',
        'bodies: without a key': 'ok the gateway refuses 8 MiB, and nothing does so before it',
        'silence: before and in an answer': expect.stringMatching(/^untested .*dist\/probe/),
        'client: its leaving is heard': expect.stringMatching(/^untested .*dist\/probe/),
        'throttle: its shape': 'ok all 50 were answered by the server',
        'signing: credentials': expect.stringMatching(/^untested .*dist\/probe/),
      },
    ]);
    expect(said.err).toContain('sending bodies');
  });

  test('costs one request of the guest, and none if the guest has already used some', async () => {
    const { seen } = await probe({});
    const charged = seen.filter((request) => request === 'POST /v1/chat/completions');
    // The others are without a key.
    expect(charged.length).toBe(1 + 4);
  });

  test('that lets a client choose its address fails', async () => {
    const said = await probe({ address: 'first' });
    expect([said.code, findings(said)['address: a forged address']]).toEqual([
      1,
      'fail one X-Forwarded-For makes this another caller, with 3 left',
    ]);
  });

  test('that refuses bodies that the gateway would accept fails; its limit on larger ones is noted', async () => {
    const tight = await probe({ bodyLimit: 5_000_000 });
    expect([tight.code, findings(tight)['bodies: without a key']]).toEqual([
      1,
      'fail a body of 6 MiB is not answered by the gateway: 413 Request Entity Too Large',
    ]);
    const ample = await probe({ bodyLimit: 10_000_000 }, { environment: { REQUEST_BODY_LIMIT: '32' } });
    expect([ample.code, findings(ample)['bodies: without a key']]).toEqual([
      0,
      'note a body of 16 MiB is not answered by the gateway: 413 Request Entity Too Large',
    ]);
  });

  test('that refuses some of many requests has the refusal shown', async () => {
    const said = await probe({ throttleAfter: 40 }, { args: ['--throttle', '60'] });
    expect(said.code).toBe(0);
    expect(findings(said)['throttle: its shape']).toMatch(
      /^note \d+ of 60: 429 \(content-type: application\/json, x-amzn-errortype: TooManyRequests\) \{"message":"Rate exceeded"\}$/,
    );
  });

  test('anything that it does not show is not taken for a pass', async () => {
    const closed = await probe({}, { environment: { GUEST_LIMIT: '0' } });
    expect(findings(closed)['address: a forged address']).toMatch(
      /^untested not tested: this gateway admits no guests/,
    );
    const refunding = await probe({}, { environment: { REFUND_REFUSALS: 'true' } });
    expect(findings(refunding)['address: a forged address']).toMatch(
      /^untested not tested: refused requests are refunded here/,
    );
  });
});

test('without a gateway it says so, and exits with 3', async () => {
  await using nothing = await startPlatform('http://127.0.0.1:1');
  const gone = await runProbe('--base', nothing.url);
  expect([gone.code, gone.err]).toEqual([3, 'error: GET /v1/models failed: socket hang up\n']);
  await using other = await startPlatform('http://127.0.0.1:1', { throttleAfter: 0 });
  const another = await runProbe('--base', `${other.url}/v1/`);
  expect([another.code, another.err]).toEqual([
    3,
    'error: there is no gateway: GET /v1/models answered 429 without its headers\n',
  ]);
});

test.each([
  [[], 'required option'],
  [['--base', 'ftp://x'], 'It must be an http(s) URL.'],
  [['--base', 'http://x', '--secret', 'short'], '--secret must have at least 32 characters'],
  [['--base', 'http://x', '--silence', '900'], 'It must be a number of seconds from 0.1 to 890, fractions allowed.'],
  [['--base', 'http://x', '--throttle', 'many'], 'It must be a whole number from 1 to 2000.'],
])('wrong usage %j is told', async (args, message) => {
  const said = await runProbe(...args);
  expect(said.err).toContain(message);
  expect(said.code).toBeGreaterThan(0);
});

test('--help lists the options and the exit codes', async () => {
  const { out } = await runProbe('--help');
  expect(out.replace(/\s+/g, ' ')).toContain("at most one request of this network's guest");
  expect(out).toMatch(/Exit codes: 0 nothing is wrong, 1 something is, 2 wrong usage, 3 it could not be examined/);
});
