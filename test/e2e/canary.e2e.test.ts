import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, jest, test } from '@jest/globals';
import { bundle, measure } from '../../lib/bundle.ts';
import { startFakeSecrets } from '../../local/fake-secrets.ts';
import { sse } from '../../local/upstream/script.ts';
import { startTestGateway } from '../support/gateway.ts';
import { metricsOf } from '../support/metrics.ts';
import { wire } from '../support/wire.ts';

jest.setTimeout(60_000);
const run = promisify(execFile);

const folder = await mkdtemp(join(tmpdir(), 'canary-artifact-'));
const metafile = await bundle('lambda/canary/index.ts', folder);
afterAll(() => rm(folder, { recursive: true }));

test('the deployed files examine a gateway, and log their metric', async () => {
  await using gateway = await startTestGateway();
  gateway.upstream.otherwise(sse(wire.chat.events.join('')));
  const key = await gateway.issueKey({ limit: 1_000 });
  const secrets = await startFakeSecrets({ canary: JSON.stringify({ key, id: 'key_1', member: 'm' }) });
  try {
    // Lambda imports the entry and calls its export.
    const call = `const { handler } = await import(${JSON.stringify(join(folder, 'index.mjs'))}); await handler({});`;
    const environment = {
      ...{ CANARY_URL: `${gateway.url}/`, CANARY_SECRET_ID: 'canary', SERVICE_NAME: 'svc', METRICS_NAMESPACE: 'Prod' },
      ...{ AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' },
      AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.url,
    };
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', call], { env: environment });
    const line = JSON.parse(stdout);
    expect(line).toMatchObject({ level: 'info', stream: 'ok', models: 'ok', refusal: 'ok' });
    expect(metricsOf(line, 'Prod')).toEqual({ CanaryFailures: 0 });
    expect(secrets.reads).toEqual(['canary']);
  } finally {
    await secrets.close();
  }
});

test('they contain no code of the gateway or the SDK, and are small', () => {
  const inputs = Object.values(metafile.outputs).flatMap(({ inputs: used }) => Object.entries(used));
  const kept = inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path);
  expect(kept).toContain('lambda/canary/canary.ts');
  const foreign =
    /aws-sdk|smithy|noble|^lambda\/(?!aws|budget\/(budget-window|money)|canary|dialects\/names|http|pipeline|report|settings)/;
  expect(kept.filter((path) => foreign.test(path))).toEqual([]);
  expect(measure(metafile).total).toBeLessThan(100 * 1024);
});
