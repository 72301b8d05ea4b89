import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readWorkflow, runScript } from './workflow.ts';

const { text: workflow, jobOf, scriptOf } = readWorkflow('deploy');
const [diff, deploy] = [jobOf('diff'), jobOf('deploy')];

/** The tools that the scripts call: each records its arguments, and behaves as the test's account says. */
const tools = {
  npx: [
    'echo "npx $*" >> calls.txt',
    'case "$2" in',
    '  diff) cat account.txt; exit "$DIFF_CODE" ;;',
    '  deploy) echo \'{"InferenceGateway-prod": {"WalletUrl": "https://w/", "GatewayUrl": "https://gateway.example/"}}\' > outputs.json ;;',
    'esac',
  ],
  npm: ['echo "npm $*" >> calls.txt', 'echo "examined with $GATEWAY_KEY"', 'exit "$DOCTOR_CODE"'],
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deploy-test-'));
  mkdirSync(join(folder, 'bin'));
  mkdirSync(join(folder, 'agreed'));
  for (const [name, lines] of Object.entries(tools)) {
    writeFileSync(join(folder, 'bin', name), ['#!/bin/bash', ...lines].join('\n'));
    chmodSync(join(folder, 'bin', name), 0o755);
  }
  for (const name of ['calls.txt', 'summary.md']) writeFileSync(join(folder, name), '');
  writeFileSync(join(folder, 'account.txt'), 'Stack InferenceGateway-prod\n[~] a change\n');
});
afterEach(() => rmSync(folder, { recursive: true }));

const read = (name: string) => readFileSync(join(folder, name), 'utf8');

/** Runs a step's script from the workflow file, as GitHub does. */
function runStep(job: string, step: string, environment: Readonly<Record<string, string>> = {}) {
  const PATH = [join(folder, 'bin'), dirname(process.execPath), process.env.PATH].join(delimiter);
  const surroundings = { PATH, STAGE: 'prod', GITHUB_STEP_SUMMARY: join(folder, 'summary.md') };
  const codes = { DIFF_CODE: '0', DOCTOR_CODE: '0' };
  return runScript(scriptOf(step, job), { ...codes, ...surroundings, ...environment }, folder);
}

describe('the order of a deployment', () => {
  test('is: tests, diff, approval, deployment', () => {
    expect(diff).toMatch(/^ {4}needs: test$/m);
    expect(deploy).toMatch(/^ {4}needs: diff$/m);
    // The stage's environment asks for approval. The diff's must be another one, or people would be asked before it exists.
    expect(deploy).toMatch(/^ {4}environment: \$\{\{ inputs\.stage \}\}$/m);
    expect(diff).toMatch(/^ {4}environment: \$\{\{ format\('\{0\}-diff', inputs\.stage\) \}\}$/m);
  });

  test('each job has its own role, and the diff never the one that deploys', () => {
    expect(diff).toContain('vars.AWS_DIFF_ROLE');
    expect(diff).not.toMatch(/AWS_DEPLOY_ROLE|secrets\.|cdk deploy/);
    expect(deploy).toContain('vars.AWS_DEPLOY_ROLE');
    expect(jobOf('test')).not.toMatch(/id-token: |environment:|secrets\./);
  });

  test('only main is deployed, and all jobs use the same commit', () => {
    for (const job of [jobOf('test'), diff, deploy])
      expect(job).toMatch(/^ {4}if: github\.ref == 'refs\/heads\/main'$/m);
    expect(workflow).not.toMatch(/\bref: /);
  });
});

test.each(['0', '1'])('the diff is in the log and in the summary, and ends the run with its own code, %s', (code) => {
  const { status, stdout } = runStep(diff, 'show the diff', { DIFF_CODE: code });
  const shown = read('account.txt');
  expect([status, stdout]).toEqual([Number(code), code === '0' ? shown : expect.stringContaining(shown)]);
  if (code === '0')
    expect(read('summary.md')).toBe(`### What deploying prod would change\n\`\`\`\`\n${shown}\`\`\`\`\n`);
  expect(read('calls.txt')).toBe('npx cdk diff --no-color --method template -c stage=prod\n');
});

describe('the deployment', () => {
  test('runs if the diff is still the approved one', () => {
    writeFileSync(join(folder, 'agreed', 'diff.txt'), read('account.txt'));
    expect(runStep(deploy, 'deploy what was agreed to').status).toBe(0);
    expect(read('calls.txt').trimEnd().split('\n').at(-1)).toBe(
      'npx cdk deploy -c stage=prod --require-approval never --outputs-file outputs.json',
    );
  });

  test.each([
    ['another diff', 'Stack InferenceGateway-prod\n', {}],
    ['a diff that can’t be made', 'Stack InferenceGateway-prod\n[~] a change\n', { DIFF_CODE: '1' }],
  ])('does not run with %s', (_, agreed, environment) => {
    writeFileSync(join(folder, 'agreed', 'diff.txt'), agreed);
    const { status, stdout } = runStep(deploy, 'deploy what was agreed to', environment);
    expect([status, stdout]).toEqual([1, expect.stringContaining('a change')]);
    expect(read('calls.txt')).not.toContain('cdk deploy');
  });
});

describe('the doctor', () => {
  const examine = (environment: Readonly<Record<string, string>>) => {
    const outputs = { 'InferenceGateway-prod': { GatewayUrl: 'https://gateway.example/' } };
    writeFileSync(join(folder, 'outputs.json'), JSON.stringify(outputs, null, 1));
    return runStep(deploy, 'examine what was deployed', environment);
  };

  test.each(['0', '1', '3'])('fails the deployment if it finds something, and tells what (exit code %s)', (code) => {
    const { status, stdout } = examine({ GATEWAY_KEY: 'ltk_x', DOCTOR_CODE: code });
    expect([status, stdout]).toEqual([Number(code), 'examined with ltk_x\n']);
    expect(read('calls.txt')).toBe('npm run --silent doctor -- --base https://gateway.example/ --stage prod\n');
    expect(read('summary.md')).toContain('examined with ltk_x');
  });

  test('says so if it has no key, as the first deployment can have none', () => {
    const { status, stdout } = examine({ GATEWAY_KEY: '' });
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^::warning::Nobody has examined .*GATEWAY_KEY/)]);
    expect(read('calls.txt')).toBe('');
  });

  test('comes after the deployment, with a key of the stage', () => {
    expect(deploy.indexOf('examine what was deployed')).toBeGreaterThan(deploy.indexOf('cdk deploy'));
    expect(deploy).toMatch(/GATEWAY_KEY: \$\{\{ secrets\.GATEWAY_KEY \}\}/);
  });
});
