import { randomBytes } from 'node:crypto';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { expect, jest, test } from '@jest/globals';
import { issueKey } from '../../lambda/identity/issued-keys.ts';
import { createKeyStore } from '../../lambda/store/admin/keys.ts';
import { bundle } from '../../lib/bundle.ts';
import { settingsFor, startDemoUpstream } from '../../local/demo/demo-upstream.ts';
import { startFunctionUrl } from '../../local/function-url.ts';
import { installAwslambda } from '../../local/response-stream.ts';
import type { Row } from '../../operator/doctor/report.ts';
import { type Artifact, startArtifact } from '../support/artifact.ts';
import { runNode } from '../support/run-command.ts';

jest.setTimeout(60_000);

/** Puts a Function URL in front of an artifact, for clients that speak HTTP. Every request goes through the Runtime API. */
async function startArtifactGateway(artifact: Artifact) {
  installAwslambda();
  const functionUrl = await startFunctionUrl({
    host: '127.0.0.1',
    port: 0,
    handler: async (event, stream) => {
      const { body, ...prelude } = await artifact.invoke(event);
      const response = awslambda.HttpResponseStream.from(stream, prelude);
      response.write(''); // the head leaves now, whenever the body begins
      await pipeline(body, response);
    },
  });
  return { url: functionUrl.url, [Symbol.asyncDispose]: () => functionUrl.close(0) };
}

test('the deployed files pass in AWS’s runtime client; one expectation that they do not meet ends it with 1', async () => {
  await using built = await mkdtempDisposable(join(tmpdir(), 'doctor-artifact-'));
  await bundle('lambda/index.ts', built.path);
  const demo = await startDemoUpstream();
  try {
    const { UPSTREAM_API_KEYS: upstreamKeys, ...environment } = settingsFor(demo);
    const secrets = { UPSTREAM_SECRET_ID: 'upstream', NETWORK_SALT_SECRET_ID: 'salt' };
    await using artifact = await startArtifact({
      gateway: {
        ...{ folder: built.path, handler: 'index.handler', memorySize: 512, timeoutMs: 60_000 },
        environment: { ...environment, ...secrets },
      },
      upstreamKeys,
    });
    await using gateway = await startArtifactGateway(artifact);
    const { documents, keysTable } = artifact.dynamoDb;
    const store = createKeyStore(documents, keysTable);
    const { key } = await issueKey(store, { member: 'doctor' }, { now: Date.now, randomBytes });
    // A word of the gateway's own.
    const told = { GATEWAY_KEY: key, UPSTREAM_NAMES: [...demo.names, 'object'].join(',') };
    const { code, out, err } = await runNode('bin/doctor.ts', ['--base', gateway.url, '--json'], told);
    expect(code).toBe(1);
    expect(err).toMatch(/^This takes 11 of the 50 requests that the key has left\.\nerror: 1 of \d+ checks failed\n$/);
    const { rows, ...rest } = JSON.parse(out);
    expect(rest).toEqual({ base: gateway.url, healthy: false, cost: 11 });
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

test('wrong usage is reported in one line, and ends it with 2', async () => {
  const said = "error: no key: give one of the gateway's with --key, or set GATEWAY_KEY to it\n";
  expect(await runNode('bin/doctor.ts', ['--base', 'http://127.0.0.1:1'], {})).toEqual({ code: 2, out: '', err: said });
});
