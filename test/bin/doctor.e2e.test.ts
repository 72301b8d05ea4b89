import { randomBytes } from 'node:crypto';
import { expect, jest, test } from '@jest/globals';
import { issueKey } from '../../lambda/identity/keys.ts';
import { createKeyStore } from '../../lambda/tables/keys.ts';
import { startDemoUpstream } from '../../local/demo/demo-upstream.ts';
import type { Row } from '../../operator/doctor/report.ts';
import { startGatewayProcess } from '../local/gateway-process.ts';
import { startArtifact } from '../support/artifact.ts';
import { startArtifactGateway } from '../support/artifact-gateway.ts';
import { runNode } from '../support/run-command.ts';
import { synthesize } from '../support/synthesize.ts';

jest.setTimeout(60_000);

const doctor = (args: readonly string[], environment: Record<string, string> = {}) =>
  runNode('bin/doctor.ts', args, environment);

test('npm start passes', async () => {
  await using gateway = await startGatewayProcess();
  const { code, out, err } = await doctor(['--base', gateway.url, '--names', 'Quillon,Quill-4'], {
    GATEWAY_KEY: gateway.key,
  });
  expect([code, err]).toEqual([0, 'This takes 10 of the 50 requests that the key has left.\n']);
  expect(out).toMatch(/\nHealthy: no check failed\.\n$/);
  expect(out).not.toMatch(/[✘•]/);
});

test('the deployed files pass in AWS’s runtime client; one expectation that they do not meet ends it with 1', async () => {
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
    const { callDynamoDb, keysTable } = artifact.dynamoDb;
    const store = createKeyStore(callDynamoDb, keysTable);
    const { key } = await issueKey(store, { member: 'doctor' }, { now: Date.now, randomBytes });
    const args = ['--base', gateway.url, '--key', key, '--json'];
    // A word of the gateway's own.
    const { code, out, err } = await doctor(args, { UPSTREAM_NAMES: [...demo.names, 'object'].join(',') });
    expect(code).toBe(1);
    expect(err).toMatch(/^This takes 10 of the 50 requests that the key has left\.\nerror: 1 of \d+ checks failed\n$/);
    const { rows, ...rest } = JSON.parse(out);
    expect(rest).toEqual({ base: gateway.url, healthy: false, cost: 10 });
    // Checks that depend on real time are certain only of faults, and with an injected clock.
    const others = rows.filter(({ check, mark }: Row) => mark !== 'ok' && check !== 'streams event by event');
    expect(others.map(({ check, mark }: Row) => [mark, check])).toEqual([
      ['untested', 'the limits'],
      ['fail', 'no name anywhere'],
    ]);
  } finally {
    await demo.close();
  }
});

test('wrong usage and a missing gateway are reported in one line', async () => {
  const said = "error: required option '--key <key>' not specified\n";
  expect(await doctor(['--base', 'http://127.0.0.1:1'])).toEqual({ code: 2, out: '', err: said });
  const { code, out, err } = await doctor(['--base', 'http://127.0.0.1:9', '--key', 'ltk_x']);
  expect([code, out]).toEqual([1, '']);
  expect(err).toMatch(/^error: GET \/v1\/models failed: .*\n$/);
});
