import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, jest, test } from '@jest/globals';
import type { Template } from '../../lib/diff/template.ts';
import { createCheckout } from '../support/checkout.ts';
import { readBlocks } from './markdown.ts';

jest.setTimeout(120_000);

const heading = 'Amazon Bedrock, in four commands';
const [block] = readBlocks(readFileSync('docs/deploy.md', 'utf8')).filter((one) => one.heading === heading);

const { folder, remove } = createCheckout(['bin', 'lib', 'lambda', 'docs', 'cdk.json', 'package.json']);
afterAll(remove);

/** The commands as they stand there, with a copy in place of the clone, its packages, and a synthesis for a deployment. */
function follow(cwd: string) {
  const script = `set -eu
git() { test "$1" = clone; cp -R "$CHECKOUT" "$3"; }
npm() { test "$*" = ci; }
npx() { test "$*" = 'cdk deploy'; node node_modules/aws-cdk/bin/cdk synth --quiet --output "$OUT"; }
${block?.code}`;
  const env = {
    ...{ CHECKOUT: folder, OUT: join(cwd, 'out'), CDK_VALIDATION: 'false', https_proxy: 'http://127.0.0.1:9' },
    ...{ PATH: `${dirname(process.execPath)}:${process.env.PATH}`, HOME: cwd },
  };
  return spawnSync('bash', ['-c', script], { cwd, env, encoding: 'utf8' });
}

test('the four commands lead to a stack that calls Bedrock by its own role, and needs no secret for that', async () => {
  await using scratch = await mkdtempDisposable(join(tmpdir(), 'four-commands-'));
  const { status, stderr } = follow(scratch.path);
  expect([status, stderr]).toEqual([
    0,
    expect.stringMatching(
      /^gateway\.json, defaults: UPSTREAM_AUTH aws took UPSTREAM_BASE_URL=https:\/\/bedrock-runtime\.REGION\.amazonaws\.com\/anthropic\/v1, /m,
    ),
  ]);
  expect(stderr).toMatch(/^warning: .*ACCESS is open, and nothing limits what all callers together spend/m);
  const template: Template = JSON.parse(readFileSync(join(scratch.path, 'out/InferenceGateway.template.json'), 'utf8'));
  const text = JSON.stringify(template);
  expect(text).toContain('"UPSTREAM_AUTH":"aws"');
  expect(text).toContain('bedrock:InvokeModelWithResponseStream');
  expect(text).not.toMatch(/UPSTREAM_SECRET_ID|UpstreamSecret|upstream\.example/);
});
