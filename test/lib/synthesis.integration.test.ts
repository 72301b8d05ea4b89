import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { dropCleanReport, findCommit, findContextFaults, findDocs } from '../../lib/synthesis.ts';
import { createCheckout } from '../support/checkout.ts';

const { folder, git, remove } = createCheckout(['package.json']);
afterAll(remove);

test('the deployed commit is that of the working tree, marked if there are further changes', () => {
  git('tag', 'v1'); // a tag can move, so it must not be the answer
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: folder, encoding: 'utf8' }).trim();
  expect(findCommit(folder)).toBe(commit);
  appendFileSync(join(folder, 'package.json'), '\n');
  expect(findCommit(folder)).toBe(`${commit}-dirty`);
});

test('without a repository the commit is unknown', () => {
  const nowhere = mkdtempSync(join(tmpdir(), 'gateway-nowhere-'));
  expect(findCommit(nowhere)).toBeUndefined();
  rmSync(nowhere, { recursive: true });
});

test('the docs’ URL is derived from the checkout’s remote, if that is GitHub', () => {
  expect(findDocs(folder)).toBeUndefined();
  git('remote', 'add', 'origin', 'x');
  const docs = 'https://github.com/acme/my.gateway/blob/HEAD/docs';
  for (const [url, found] of [
    ['https://github.com/acme/my.gateway.git', docs],
    ['https://github.com/acme/my.gateway/', docs],
    ['https://user:secret@github.com/acme/my.gateway', docs],
    ['git@github.com:acme/my.gateway.git', docs],
    ['ssh://git@github.com/acme/my.gateway.git', docs],
    ['https://github.com.evil.example/acme/my.gateway', undefined],
    ['https://git.example/acme/my.gateway.git', undefined],
    ['/somewhere/github.com/acme/gateway', undefined],
  ] as const) {
    git('remote', 'set-url', 'origin', url);
    expect([url, findDocs(folder)]).toEqual([url, found]);
  }
});

test('an unknown context key is a fault, unless it comes from a shared file', () => {
  const home = mkdtempSync(join(tmpdir(), 'gateway-home-'));
  writeFileSync(join(home, '.cdk.json'), '{"context": {"team": "a"}}');
  writeFileSync(join(folder, 'cdk.context.json'), '{"vpc-provider:account=1": {}}');
  const own = { gateway: {}, stage: 'prod', commit: '', distribution: 'E1', 'cli-telemetry': false };
  const ofAws = { 'aws:cdk:enable-path-metadata': true, '@aws-cdk/core:checkSecretUsage': true, 'cdk-migrate': true };
  const context = { ...own, ...ofAws, team: 'a', 'vpc-provider:account=1': {}, Stage: 'prod', GUEST_LIMIT: 7 };
  expect(findContextFaults(context, folder, home)).toEqual([
    expect.stringMatching(/^-c Stage does nothing: there are stage, commit and distribution/),
    expect.stringMatching(/^-c GUEST_LIMIT does nothing: .*settings stand in cdk\.json under gateway$/),
  ]);
  rmSync(home, { recursive: true });
});

test('the rules’ report stays if one of them is broken', () => {
  const outdir = mkdtempSync(join(tmpdir(), 'gateway-report-'));
  const report = join(outdir, 'validation-report.json');
  const isKept = (...reports: readonly string[][]) => {
    writeFileSync(report, JSON.stringify({ pluginReports: reports.map((violations) => ({ violations })) }));
    dropCleanReport(outdir);
    return existsSync(report);
  };
  expect([isKept(['AwsSolutions-IAM5'], []), isKept([], [])]).toEqual([true, false]);
  dropCleanReport(outdir); // there is no report
  rmSync(outdir, { recursive: true });
});
