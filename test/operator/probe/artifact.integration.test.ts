import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { listenLocally } from '../../../local/listen-locally.ts';
import { createListener } from '../../../operator/probe/artifact/create-listener.ts';
import {
  createDescribeCredentials,
  type FoundCredentials,
} from '../../../operator/probe/artifact/describe-credentials.ts';
import { type Manners, startPlatform } from './platform.ts';
import { findings, runProbe } from './run-probe.ts';

const secret = 'b'.repeat(32);
const ofContainer: FoundCredentials = {
  ...{ accessKeyId: 'ASIAVERYSECRETID', sessionToken: 'a-session-token', $source: { CREDENTIALS_HTTP: 'z' } },
  expiration: new Date(3_600_000),
};

async function startArtifact(credentials: Partial<Parameters<typeof createDescribeCredentials>[0]> = {}) {
  const describeCredentials = createDescribeCredentials({
    environment: { AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://169.254.170.23/v1/credentials' },
    findCredentials: async () => ofContainer,
    now: () => 60_000,
    ...credentials,
  });
  const secretHash = createHash('sha256').update(secret).digest('hex');
  const server = createServer(createListener({ secretHash, describeCredentials, now: () => performance.now() }));
  const { url, close } = await listenLocally(server);
  return { url, [Symbol.asyncDispose]: close };
}

type Artifact = Parameters<typeof startArtifact>[0];

async function probe(manners: Manners = {}, artifact: Artifact = {}) {
  await using server = await startArtifact(artifact);
  await using platform = await startPlatform(server.url, manners);
  return await runProbe('--base', platform.url, '--secret', secret, '--silence', '0.3', '--json');
}

describe('the artifact behind a platform', () => {
  test('that behaves as AWS documents reports so, row by row', async () => {
    const said = await probe();
    expect([said.code, findings(said)]).toEqual([
      0,
      {
        'request: what arrives': 'note HTTP/1.1 with connection, host, x-forwarded-for',
        'address: a forged address': expect.stringMatching(
          /^ok the last value is (::ffff:)?127\.0\.0\.1, whatever is forged/,
        ),
        'bodies: whole': 'ok up to 32 MiB',
        'silence: before an answer': 'ok 0.3 s',
        'silence: in an answer': 'ok 0.3 s',
        'client: its leaving is heard': expect.stringMatching(/^ok \d+ ms later$/),
        'throttle: its shape': expect.stringMatching(/^untested/),
        'signing: credentials':
          'ok temporary, found by CREDENTIALS_HTTP; variables: AWS_CONTAINER_CREDENTIALS_FULL_URI; they expire in 3540 s; after 0 s',
      },
    ]);
    expect(said.err).toContain('two silences of 0.3 s');
  });

  test.each<readonly [string, Manners, string, RegExp]>([
    [
      'lets clients choose their address',
      { address: 'first' },
      'address: a forged address',
      /^fail one X-Forwarded-For: the last value is 198/,
    ],
    [
      'soon refuses all requests',
      { throttleAfter: 12 },
      'signing: credentials',
      /^fail \/credentials is not answered by dist\/probe: 429/,
    ],
    [
      'does not name the caller',
      { address: 'none' },
      'address: a forged address',
      /^fail X-Forwarded-For names nobody/,
    ],
    [
      'accepts only small bodies',
      { bodyLimit: 5_000_000 },
      'bodies: whole',
      /^fail a body of 6 MiB: 413 Request Entity/,
    ],
    ['accepts no huge bodies', { bodyLimit: 20_000_000 }, 'bodies: whole', /^note a body of 32 MiB: 413/],
    ['cuts silence', { silenceLimit: 150 }, 'silence: in an answer', /^fail cut within 0\.3 s/],
    [
      'cuts silence',
      { silenceLimit: 150 },
      'silence: before an answer',
      /^fail GET \/silence.* failed: socket hang up/,
    ],
    [
      'does not report that clients leave',
      { keepsLeaversSecret: true },
      'client: its leaving is heard',
      /^fail the server has not noticed/,
    ],
  ])('that %s is noticed', async (_what, manners, check, finding) => {
    const said = await probe(manners);
    expect(findings(said)[check]).toMatch(finding);
    expect(said.code).toBe(/^\^fail/.test(finding.source) ? 1 : 0);
  });
});

describe('credentials', () => {
  const row = async (artifact: Artifact) => findings(await probe({}, artifact))['signing: credentials'] ?? '';

  test('without an expiry, expired, and missing', async () => {
    const { expiration: _, ...endless } = ofContainer;
    const environment = { AWS_ACCESS_KEY_ID: 'ASIA', AWS_SESSION_TOKEN: 'a-session-token' };
    expect(await row({ environment, findCredentials: async () => ({ ...endless, $source: undefined }) })).toMatch(
      /^note temporary, found by the default chain; variables: AWS_ACCESS_KEY_ID, AWS_SESSION_TOKEN; their expiry is unknown/,
    );
    expect(await row({ findCredentials: async () => ({ ...ofContainer, expiration: new Date(0) }) })).toMatch(
      /^fail they have expired/,
    );
    expect(await row({ findCredentials: () => Promise.reject(new Error('none')) })).toMatch(/^fail none found/);
  });

  test('renewed while it ran', async () => {
    let turn = 0;
    const findCredentials = async () => ({ ...ofContainer, accessKeyId: `ASIA${turn++}` });
    expect(await row({ findCredentials })).toMatch(/renewed since the start$/);
  });
});

test('nothing it prints contains the secret, or a value of credentials', async () => {
  await using server = await startArtifact();
  for (const format of [[], ['--json']]) {
    const { out, err } = await runProbe('--base', server.url, '--secret', secret, '--silence', '0.3', ...format);
    expect(out + err).not.toMatch(/b{32}|ASIAVERYSECRETID|a-session-token|169\.254/);
  }
});

describe('somebody who does not know the secret', () => {
  const paths = ['/request', '/silence', '/stay', '/left', '/credentials', '/body', '/'];

  test.each([{}, { 'x-probe-secret': '' }, { 'x-probe-secret': 'short' }, { 'x-probe-secret': 'c'.repeat(32) }])(
    'finds nothing with %j',
    async (headers) => {
      await using server = await startArtifact();
      for (const path of paths) {
        for (const method of ['GET', 'POST']) {
          const reply = await fetch(server.url + path, { method, headers: headers as Record<string, string> });
          expect([path, reply.status, await reply.text()]).toEqual([path, 404, '']);
        }
      }
    },
  );

  test('is told so by the probe, which exits with 3', async () => {
    await using server = await startArtifact();
    const { code, err } = await runProbe('--base', server.url, '--secret', 'c'.repeat(32));
    expect([code, err]).toEqual([
      3,
      'error: there is no dist/probe, or it has another secret: it answered 404. Without --secret and PROBE_SECRET, the gateway itself is examined.\n',
    ]);
  });
});
