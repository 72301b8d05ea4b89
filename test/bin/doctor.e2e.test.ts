import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { expect, jest, test } from '@jest/globals';
import { issueKey } from '../../lambda/identity/issue-key.ts';
import { createDocumentClient } from '../../lambda/store/client.ts';
import { createKeyStore } from '../../lambda/store/keys.ts';
import { startDemoUpstream } from '../../local/demo/demo-upstream.ts';
import { startGatewayProcess } from '../local/gateway-process.ts';
import { startArtifact } from '../support/artifact.ts';
import { startArtifactGateway } from '../support/artifact-gateway.ts';
import { startMeddlingProxy } from '../support/meddling-proxy.ts';
import { synthesize } from '../support/synthesize.ts';

jest.setTimeout(60_000);

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function doctor(args: readonly string[], environment: Record<string, string> = {}): Promise<Ended> {
  const env = { PATH: process.env.PATH, ...environment };
  return new Promise((resolve) => {
    execFile(process.execPath, ['bin/doctor.ts', ...args], { env }, (error, out, err) => {
      resolve({ code: error ? Number(error.code) : 0, out, err });
    });
  });
}

test('npm start passes, and fails behind something that holds streams back', async () => {
  await using gateway = await startGatewayProcess();
  const healthy = await doctor(['--base', gateway.url], { GATEWAY_KEY: gateway.key });
  expect(healthy).toMatchObject({ code: 0, err: 'This takes 6 of the 50 requests that the key has left.\n' });
  expect(healthy.out).toMatch(/\nHealthy: 26 checks passed.\n$/);

  await using proxy = await startMeddlingProxy(gateway.url, { holdsBack: true });
  const broken = await doctor(['--base', proxy.url, '--key', gateway.key]);
  expect(broken.code).toBe(1);
  expect(broken.out).toMatch(/\n✘ chat +streams event by event +.*holds the stream back\n/);
  expect(broken.out).toMatch(/\n3 of 26 checks failed.\n$/);
});

test('the deployed files pass in AWS’s runtime client', async () => {
  await using synthesized = await synthesize();
  const demo = await startDemoUpstream();
  try {
    await using artifact = await startArtifact({
      gateway: synthesized.gateway,
      environment: {
        UPSTREAM_BASE_URL: demo.url,
        UPSTREAM_TEXT_MODEL: demo.textModel,
        UPSTREAM_VISION_MODEL: demo.visionModel,
        UPSTREAM_NAMES: demo.names.join(','),
      },
      upstreamKeys: demo.apiKey,
    });
    await using gateway = await startArtifactGateway(artifact);
    const { client, keysTable } = artifact.dynamoDb;
    const store = createKeyStore(createDocumentClient(client), keysTable);
    const { key } = await issueKey(store, { member: 'doctor' }, { now: Date.now, randomBytes });
    const { code, out, err } = await doctor(['--base', gateway.url, '--key', key, '--json']);
    expect([code, err]).toEqual([0, 'This takes 6 of the 50 requests that the key has left.\n']);
    expect(JSON.parse(out)).toMatchObject({ healthy: true, cost: 6, rows: { length: 26 } });
  } finally {
    await demo.close();
  }
});

test('wrong usage, and a gateway that is not there, are said in one line', async () => {
  expect(await doctor(['--base', 'http://127.0.0.1:1'])).toEqual({
    code: 2,
    out: '',
    err: "error: required option '--key <key>' not specified\n",
  });
  const { code, out, err } = await doctor(['--base', 'http://127.0.0.1:9', '--key', 'x']);
  expect([code, out]).toEqual([1, '']);
  expect(err).toMatch(/^error: GET \/v1\/models failed: .*\n$/);
});
