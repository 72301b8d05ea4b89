import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createCheckout } from '../support/checkout.ts';

jest.setTimeout(120_000);

function edit(folder: string, file: string, change: (text: string) => string) {
  const path = join(folder, file);
  const before = readFileSync(path, 'utf8');
  const after = change(before);
  expect(after).not.toBe(before);
  writeFileSync(path, after);
}

/** Compares in a checkout, and leaves no temporary file behind. */
function diff(cwd: string, ...words: string[]) {
  const TMPDIR = mkdtempSync(join(tmpdir(), 'diff-test-'));
  const env = { ...process.env, TMPDIR, AWS_PROFILE: '', https_proxy: 'http://127.0.0.1:9' };
  const command = join(process.cwd(), 'bin/diff.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...words], { cwd, env, encoding: 'utf8' });
  const left = readdirSync(TMPDIR);
  rmSync(TMPDIR, { recursive: true });
  expect(left).toEqual([]);
  const [title = '', ...lines] = stdout.trimEnd().split('\n');
  return { status, stderr, title, lines };
}

describe('in a checkout of the gateway', () => {
  const sources = ['bin', 'lib', 'lambda', 'operator', 'docs/openapi.json', 'cdk.json'];
  const { folder, git, remove } = createCheckout([...sources, 'package.json', 'package-lock.json']);
  beforeAll(() => {
    writeFileSync(join(folder, 'gateway.json'), '{"stages": {"mine": {"GUEST_LIMIT": 3}}}');
    git('add', 'gateway.json');
    git('commit', '--quiet', '--message', 'own settings');
  });
  afterEach(() => git('checkout', '--quiet', '.'));
  afterAll(remove);

  test('three typical changes are exactly three lines, one of them in the operator’s own settings, which a commit has', () => {
    edit(folder, 'gateway.json', (text) => text.replace('"GUEST_LIMIT": 3', '"GUEST_LIMIT": 5'));
    edit(folder, 'cdk.json', (text) =>
      text.replace('"defaults": {', '"defaults": { "memorySize": 1024, "MODEL_ALIASES": "gpt-*=svc",'),
    );
    const { status, stderr, title, lines } = diff(folder, '--stage', 'mine');
    expect(stderr).toBe('');
    expect(lines.sort()).toEqual([
      '~ Gateway/Function, Wallet/Function: Environment.Variables.GUEST_LIMIT "3" -> "5"',
      '~ Gateway/Function: Environment.Variables.MODEL_ALIASES none -> "gpt-*=svc"',
      '~ Gateway/Function: MemorySize 512 -> 1024',
    ]);
    expect(title).toMatch(/^Stage mine: the working tree against HEAD \([0-9a-f]{7}\)$/);
    expect(status).toBe(0);
  });
});

// The stand-in is fast: what is compared here are templates, wherever they come from.
describe('with an app that only writes templates', () => {
  const { folder, git, remove } = createCheckout(['package.json']);
  const table = { Type: 'AWS::DynamoDB::GlobalTable', Properties: { KeySchema: [{ AttributeName: 'pk' }] } };
  const alarm = { Type: 'AWS::CloudWatch::Alarm', Properties: { Threshold: 10, AlarmActions: ['topic'] } };
  const templates = { Main: { Resources: { Keys: table } }, Edge: { Resources: { Failing: alarm } } };
  const app = `
    import { existsSync, readFileSync, writeFileSync } from 'node:fs';
    const templates = Object.entries(JSON.parse(readFileSync('templates.json', 'utf8')));
    if (existsSync('gateway.json')) {
      const Environment = { Variables: JSON.parse(readFileSync('gateway.json', 'utf8')).defaults };
      templates.push(['Own', { Resources: { Function: { Type: 'AWS::Lambda::Function', Properties: { Environment } } } }]);
    }
    const write = (name, value) => writeFileSync(process.env.CDK_OUTDIR + '/' + name, JSON.stringify(value));
    for (const [name, template] of templates) write(name + '.template.json', template);
    const artifacts = templates.map(([name]) => [name, {
      type: 'aws:cloudformation:stack', environment: 'aws://unknown-account/unknown-region',
      properties: { templateFile: name + '.template.json' },
    }]);
    write('manifest.json', { version: '36.0.0', artifacts: Object.fromEntries(artifacts) });`;
  const files = {
    'cdk.json': JSON.stringify({ app: 'node app.mjs', context: { gateway: { stages: { dev: {} } } } }),
    'app.mjs': app,
    'templates.json': JSON.stringify(templates),
  };
  beforeAll(() => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    git('add', ...Object.keys(files));
    git('commit', '--quiet', '--message', 'app');
  });
  afterEach(() => git('checkout', '--quiet', '.'));
  afterAll(remove);

  test('a stage that the base lacks is compared with nothing', () => {
    edit(folder, 'cdk.json', (text) => text.replace('"dev":{}', '"dev":{},"test":{}'));
    const { status, lines } = diff(folder, '--stage', 'test');
    expect([status, lines[0]]).toEqual([
      ...[2, 'Note: the stage is new: deploying it makes a stack of its own, with empty tables'],
    ]);
    expect(lines).toEqual(
      expect.arrayContaining(['+ Keys (AWS::DynamoDB::GlobalTable)', '+ Failing (AWS::CloudWatch::Alarm)']),
    );
  });

  test('a danger in any of the stacks is marked, and ends it with 2', () => {
    edit(folder, 'templates.json', (text) => text.replace('"Threshold":10', '"Threshold":90'));
    expect(diff(folder)).toMatchObject({
      ...{ status: 2, stderr: '', title: expect.stringMatching(/^Stage dev: /) },
      lines: ['!! DANGER Failing: no longer watched: rings later than it did', '~ Failing: Threshold 10 -> 90'],
    });
  });

  test('what another checkout has synthesized is judged by this code, and a refusal ends it with 3', () => {
    const synthesized = mkdtempSync(join(tmpdir(), 'synthesized-'));
    edit(folder, 'templates.json', (text) => text.replace('"pk"', '"id"'));
    const env = { ...process.env, CDK_OUTDIR: synthesized };
    expect(spawnSync(process.execPath, ['app.mjs'], { cwd: folder, env }).status).toBe(0);
    git('checkout', '--quiet', '.');
    const { status, stderr, title, lines } = diff(folder, '--base', 'HEAD', '--synthesized', synthesized);
    rmSync(synthesized, { recursive: true });
    expect([status, stderr, title]).toEqual([
      3,
      '',
      expect.stringContaining(`the templates in ${synthesized} against`),
    ]);
    expect(lines).toEqual([
      expect.stringMatching(/^!! REFUSED Keys: no longer exact: has another key, so it is replaced by an empty table/),
      '~ Keys (replaced): KeySchema[0].AttributeName "pk" -> "id"',
    ]);
  });

  describe('settings that only the working tree has', () => {
    const settings = (ACCESS: string) => JSON.stringify({ defaults: { ACCESS } });
    const notCompared = (base: string) =>
      expect.stringMatching(`^Note: gateway\\.json is not in ${base}, .* was not compared: .* --settings OLD\\.json`);
    const opened = [
      expect.stringMatching(/^!! DANGER Function: no longer bounded: is open: /),
      '~ Function: Environment.Variables.ACCESS "keys" -> "open"',
    ];
    const own = join(folder, 'gateway.json');
    const old = join(folder, 'old.json');
    beforeEach(() => writeFileSync(own, settings('open')));
    afterEach(() => {
      for (const file of [own, old]) rmSync(file, { force: true });
    });

    test('can’t be compared, which it says instead of concluding, with a status of its own', () => {
      const unseen = 'No changes apart from the settings, which were not compared';
      expect(diff(folder)).toMatchObject({ status: 4, stderr: '', lines: [notCompared('HEAD'), unseen] });
      edit(folder, 'templates.json', (text) => text.replace('"Threshold":10', '"Threshold":90'));
      const { status, lines } = diff(folder);
      expect([status, lines[1]]).toEqual([4, expect.stringMatching(/^!! DANGER Failing: /)]);
      edit(folder, 'templates.json', (text) => text.replace('"pk"', '"id"'));
      expect(diff(folder).status).toBe(3);
    });

    test('are compared with a copy of what is deployed', () => {
      writeFileSync(old, settings('keys'));
      expect(diff(folder, '--settings', 'old.json')).toMatchObject({ status: 2, stderr: '', lines: opened });
    });

    test('a copy that is not there, or is no JSON, is named', () => {
      const missing = diff(folder, '--settings', 'old.json');
      expect([missing.status, missing.stderr]).toEqual([1, 'there is no file old.json\n']);
      writeFileSync(old, '{');
      const broken = diff(folder, '--settings', 'old.json');
      expect([broken.status, broken.stderr]).toEqual([1, expect.stringMatching(/^old\.json is not valid JSON: /)]);
    });

    test('are compared with the last commit in a clone of a repository whose main line has none', () => {
      git('checkout', '--quiet', '-b', 'own');
      git('update-ref', 'refs/remotes/origin/main', 'HEAD');
      writeFileSync(own, settings('keys'));
      git('add', 'gateway.json');
      git('commit', '--quiet', '--message', 'own settings');
      writeFileSync(own, settings('open'));
      const { status, title, lines } = diff(folder);
      expect([status, title, lines]).toEqual([2, expect.stringContaining(' against HEAD ('), opened]);
      expect(diff(folder, '--base', 'origin/main')).toMatchObject({
        status: 4,
        lines: [notCompared('origin/main'), expect.anything()],
      });
      git('update-ref', '-d', 'refs/remotes/origin/main');
      git('checkout', '--quiet', '--force', '-');
    });
  });

  test('interrupted, it leaves no checkout behind', async () => {
    edit(folder, 'app.mjs', (text) => `await new Promise((resolve) => setTimeout(resolve, 4000));${text}`);
    const TMPDIR = mkdtempSync(join(tmpdir(), 'diff-test-'));
    const env = { ...process.env, TMPDIR };
    const child = spawn(process.execPath, [join(process.cwd(), 'bin/diff.ts')], { cwd: folder, env, stdio: 'ignore' });
    const isUnderWay = () => readdirSync(TMPDIR).some((name) => name.startsWith('gateway-diff-'));
    while (!isUnderWay()) await wait(20);
    expect(readdirSync(TMPDIR)).toContainEqual(expect.stringMatching(/^gateway-base-/));
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([130, null]);
    expect(readdirSync(TMPDIR)).toEqual([]);
    rmSync(TMPDIR, { recursive: true });
  });

  test('a comparison that fails ends with 1 and says why, and on which side', () => {
    expect(diff(folder, '--base', 'no-such-branch')).toMatchObject({
      ...{ status: 1, stderr: 'there is no commit no-such-branch\n' },
    });
    edit(folder, 'templates.json', (text) => text.slice(1));
    const fault = /^SyntaxError: Unexpected .* \(app\.mjs:\d+\)\n$/;
    expect(diff(folder)).toMatchObject({ status: 1, stderr: expect.stringMatching(fault) });
    git('checkout', '--quiet', '.');
    edit(folder, 'app.mjs', () => 'console.error("one setting is wrong\\nanother too"); process.exit(1)');
    expect(diff(folder).stderr).toBe('one setting is wrong\nanother too\n');
    git('checkout', '--quiet', '.');
    edit(folder, 'templates.json', (text) => text.slice(1));
    git('commit', '--quiet', '--all', '--message', 'broken');
    writeFileSync(join(folder, 'templates.json'), JSON.stringify(templates));
    const { status, stderr } = diff(folder, '--base', 'HEAD');
    const said = stderr.replace("The base (HEAD) can't be synthesized:\n", '');
    expect([status, said === stderr, said]).toEqual([1, false, expect.stringMatching(fault)]);
  });
});
