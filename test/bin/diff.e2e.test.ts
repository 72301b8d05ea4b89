import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createCheckout } from '../support/checkout.ts';

jest.setTimeout(120_000);

const product = [
  'bin',
  'lib',
  'lambda',
  'operator',
  'docs/openapi.json',
  'cdk.json',
  'package.json',
  'package-lock.json',
];
const { folder: checkout, git, remove } = createCheckout(product);
// With an edge, which has a second stack in another region.
edit('cdk.json', (text) => text.replace('"prod": {', '"prod": { "edge": true,'));
git('commit', '--quiet', '--all', '--message', 'edge');
beforeEach(() => git('checkout', '--quiet', '.'));
afterAll(remove);

function edit(file: string, change: (text: string) => string) {
  const path = join(checkout, file);
  const before = readFileSync(path, 'utf8');
  const after = change(before);
  expect(after).not.toBe(before);
  writeFileSync(path, after);
}

/** Runs the app as the CDK's command line does. */
function synthesize(outdir: string) {
  const { context } = JSON.parse(readFileSync(join(checkout, 'cdk.json'), 'utf8'));
  const options = { stage: 'prod', commit: '', distribution: 'E0000000000000', 'aws:cdk:enable-path-metadata': true };
  const json = JSON.stringify({ ...context, ...options });
  const env = { ...process.env, CDK_OUTDIR: outdir, CDK_CONTEXT_JSON: json, CDK_VALIDATION: 'false' };
  return spawnSync(process.execPath, ['bin/gateway.ts'], { cwd: checkout, encoding: 'utf8', env });
}

/** Compares, and leaves no temporary file behind. */
function diff(...words: string[]) {
  const TMPDIR = mkdtempSync(join(tmpdir(), 'diff-test-'));
  const { status, stdout, stderr } = spawnSync(process.execPath, ['bin/diff.ts', ...words], {
    cwd: checkout,
    encoding: 'utf8',
    env: { ...process.env, TMPDIR, AWS_PROFILE: '', https_proxy: 'http://127.0.0.1:9' },
  });
  const left = readdirSync(TMPDIR);
  rmSync(TMPDIR, { recursive: true });
  expect(left).toEqual([]);
  const [title = '', ...lines] = stdout.trimEnd().split('\n');
  return { status, stderr, title, lines };
}

test('three typical changes are exactly three lines', () => {
  edit('cdk.json', (text) =>
    text
      .replace('"memorySize": 512', '"memorySize": 1024')
      .replace('"prod": {', '"prod": { "BURST_LIMIT": 30, "MODEL_ALIASES": "gpt-*=svc",'),
  );
  const { status, stderr, title, lines } = diff('--stage', 'prod');
  expect(stderr).toBe('');
  expect(lines.sort()).toEqual([
    '~ Gateway/Function: Environment.Variables.BURST_LIMIT "20" -> "30"',
    '~ Gateway/Function: Environment.Variables.MODEL_ALIASES none -> "gpt-*=svc"',
    '~ Gateway/Function: MemorySize 512 -> 1024',
  ]);
  expect(title).toMatch(/^Stage prod: the working tree against HEAD \([0-9a-f]{7}\)$/);
  expect(status).toBe(0);
});

describe('templates that another checkout has written are judged by this code', () => {
  const templates = join(checkout, 'templates');
  const judged = () => diff('--stage', 'prod', '--base', 'HEAD', '--synthesized', templates);

  beforeAll(() => {
    edit('lib/alarms/edge.ts', (text) => text.replace('failing: 10', 'failing: 90').replace('EdgeRefusing:', 'Other:'));
    expect(synthesize(templates)).toMatchObject({ status: 0 });
  });

  test("the edge's alarms, which are a stack in another region, are seen too", () => {
    const { status, stderr, lines } = judged();
    expect([status, stderr]).toEqual([2, '']);
    expect(lines.filter((line) => /^!! DANGER Edge(Failing|Refusing)/.test(line)).sort()).toEqual([
      '!! DANGER EdgeFailing: no longer watched: rings later than it did',
      '!! DANGER EdgeRefusing: is removed',
    ]);
  });

  test('a broken base is named as the cause', () => {
    edit('cdk.json', (text) => text.replace('"prod": {', '"prod": { "GUESTS_LIMIT": 5,'));
    git('commit', '--quiet', '--all', '--message', 'broken');
    const { status, stderr } = judged();
    git('reset', '--quiet', '--hard', 'HEAD~1');
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /^The base \(HEAD\) can't be synthesized:\ncdk\.json, .*GUESTS_LIMIT is not a known setting/,
    );
  });

  test("a change of a table's key is refused", () => {
    edit('templates/InferenceGateway.template.json', (text) => text.replaceAll('"pk"', '"id"'));
    const { status, stderr, lines } = judged();
    expect([status, stderr]).toEqual([3, '']);
    const refusal = /^!! REFUSED Tables\/Keys: no longer exact: has another key, so it is replaced by an empty table/;
    expect(lines).toContainEqual(expect.stringMatching(refusal));
    expect(lines).toContainEqual('~ Tables/Keys (replaced): KeySchema[0].AttributeName "pk" -> "id"');
  });
});

test('what holds of a template by itself stops its synthesis, whichever stack it is of', () => {
  edit('lib/alarms/alarm.ts', (text) => text.replace('alarm.addAlarmAction(action);', ''));
  const { status, stderr } = synthesize(join(checkout, 'cdk.out'));
  expect([status, stderr]).toEqual([1, expect.stringMatching(/EdgeFailing\w* is not watched/)]);
});

test('a comparison that fails says why', () => {
  expect(diff('--base', 'no-such-branch')).toMatchObject({ status: 1, stderr: 'there is no commit no-such-branch\n' });
  const misspelt = diff('--stage', 'prd');
  expect(misspelt.status).toBe(1);
  expect(misspelt.stderr).toContain('prd is no stage: did you mean prod?');
  expect(misspelt.stderr).not.toContain('The base');
});
