import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { compare, type Wanted } from '../../../operator/diff/compare.ts';
import { createCheckout } from '../../support/checkout.ts';
import { editFile } from '../../support/edit-file.ts';

// The app is a fast stand-in: what is compared here are templates, wherever they come from.
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
const edit = (file: string, before: string, after: string) => editFile(join(folder, file), before, after);
const diff = (wanted: Partial<Wanted> = {}) => compare(folder, { stage: 'dev', ...wanted });

beforeAll(() => {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  git('add', ...Object.keys(files));
  git('commit', '--quiet', '--message', 'app');
});
afterEach(() => git('checkout', '--quiet', '.'));
afterAll(remove);

test('a stage that the base lacks is compared with nothing', async () => {
  edit('cdk.json', '"dev":{}', '"dev":{},"test":{}');
  const { status, lines } = await diff({ stage: 'test' });
  expect([status, lines[0]]).toEqual([
    ...[2, 'Note: the stage is new: deploying it makes a stack of its own, with empty tables'],
  ]);
  expect(lines).toEqual(
    expect.arrayContaining(['+ Keys (AWS::DynamoDB::GlobalTable)', '+ Failing (AWS::CloudWatch::Alarm)']),
  );
});

test('a danger in any of the stacks is marked, and ends it with 2', async () => {
  edit('templates.json', '"Threshold":10', '"Threshold":90');
  expect(await diff()).toEqual({
    status: 2,
    title: expect.stringMatching(/^Stage dev: the working tree against HEAD \([0-9a-f]{7}\)$/),
    lines: ['!! DANGER Failing: no longer watched: rings later than it did', '~ Failing: Threshold 10 -> 90'],
  });
});

test('what another checkout has synthesized is judged by this code, and a refusal ends it with 3', async () => {
  const synthesized = mkdtempSync(join(tmpdir(), 'synthesized-'));
  edit('templates.json', '"pk"', '"id"');
  const env = { ...process.env, CDK_OUTDIR: synthesized };
  expect(spawnSync(process.execPath, ['app.mjs'], { cwd: folder, env }).status).toBe(0);
  git('checkout', '--quiet', '.');
  expect(await diff({ base: 'HEAD', synthesized })).toEqual({
    status: 3,
    title: expect.stringContaining(`the templates in ${synthesized} against`),
    lines: [
      expect.stringMatching(/^!! REFUSED Keys: no longer exact: has another key, so it is replaced by an empty table/),
      '~ Keys (replaced): KeySchema[0].AttributeName "pk" -> "id"',
    ],
  });
  rmSync(synthesized, { recursive: true });
});

test('of a comparison that fails it says why, and on which side', async () => {
  await expect(diff({ base: 'no-such-branch' })).rejects.toThrow(/^there is no commit no-such-branch$/);
  writeFileSync(join(folder, 'app.mjs'), 'console.error("one setting is wrong\\nanother too"); process.exit(1)');
  await expect(diff()).rejects.toThrow(/^one setting is wrong\nanother too$/);
  git('checkout', '--quiet', '.');
  const fault = 'SyntaxError: Unexpected .* \\(app\\.mjs:\\d+\\)$';
  edit('templates.json', '{"Main', '"Main');
  await expect(diff()).rejects.toThrow(new RegExp(`^${fault}`));
  git('commit', '--quiet', '--all', '--message', 'broken');
  writeFileSync(join(folder, 'templates.json'), JSON.stringify(templates));
  await expect(diff()).rejects.toThrow(new RegExp(`^The base \\(HEAD\\) can't be synthesized:\n${fault}`));
  git('reset', '--quiet', '--hard', 'HEAD~1');
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

  test('can’t be compared, which it says instead of concluding, with a status of its own', async () => {
    const unseen = 'No changes apart from the settings, which were not compared';
    expect(await diff()).toMatchObject({ status: 4, lines: [notCompared('HEAD'), unseen] });
    edit('templates.json', '"Threshold":10', '"Threshold":90');
    const { status, lines } = await diff();
    expect([status, lines[1]]).toEqual([4, expect.stringMatching(/^!! DANGER Failing: /)]);
    edit('templates.json', '"pk"', '"id"');
    expect((await diff()).status).toBe(3);
  });

  test('are compared with a copy of what is deployed', async () => {
    writeFileSync(old, settings('keys'));
    expect(await diff({ settings: old })).toMatchObject({ status: 2, lines: opened });
  });

  test('a copy that is not there, or is no JSON, is named', async () => {
    await expect(diff({ settings: old })).rejects.toThrow(`there is no file ${old}`);
    writeFileSync(old, '{');
    await expect(diff({ settings: old })).rejects.toThrow(`${old} is not valid JSON: `);
  });

  test('are compared with the last commit in a clone of a repository whose main line has none', async () => {
    git('checkout', '--quiet', '-b', 'own');
    git('update-ref', 'refs/remotes/origin/main', 'HEAD');
    writeFileSync(own, settings('keys'));
    git('add', 'gateway.json');
    git('commit', '--quiet', '--message', 'own settings');
    writeFileSync(own, settings('open'));
    expect(await diff()).toEqual({ status: 2, title: expect.stringContaining(' against HEAD ('), lines: opened });
    expect(await diff({ base: 'origin/main' })).toMatchObject({
      status: 4,
      lines: [notCompared('origin/main'), expect.anything()],
    });
    git('update-ref', '-d', 'refs/remotes/origin/main');
    git('checkout', '--quiet', '--force', '-');
  });
});
