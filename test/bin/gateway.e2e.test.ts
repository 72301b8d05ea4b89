import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';

const folder = mkdtempSync(join(tmpdir(), 'gateway-synth-'));

/** That of cdk.json, with an upstream that may exist. */
const { context } = JSON.parse(readFileSync('cdk.json', 'utf8'));
Object.assign(context.gateway.defaults, { UPSTREAM_BASE_URL: 'https://api.acme.com/v1' });
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the app as the CDK's command line does: with the context of cdk.json, and a folder to write to. */
function synthesize(context: unknown) {
  // The stack's own test validates the templates.
  const app = { CDK_OUTDIR: folder, CDK_CONTEXT_JSON: JSON.stringify(context), CDK_VALIDATION: 'false' };
  const environment = { ...process.env, ...app };
  return spawnSync(process.execPath, ['bin/gateway.ts'], { env: environment, encoding: 'utf8' });
}

test('a wrong deployment is refused in plain lines, one for each fault', () => {
  const defaults = { UPSTREAM_BASE_URL: 'nowhere', UPSTREAM_TEXT_MODEL: 'a' };
  const gateway = { defaults, stages: { prod: { GUESTS_LIMIT: 1 } } };
  const { status, stderr, stdout } = synthesize({ gateway, stage: 'prod' });
  expect(stderr.trimEnd().split('\n')).toEqual([
    'cdk.json, gateway.stages.prod: GUESTS_LIMIT is not a known setting: did you mean GUEST_LIMIT?',
    expect.stringMatching(/^cdk.json, gateway.defaults: UPSTREAM_BASE_URL must be an http\(s\) URL/),
    expect.stringMatching(/^cdk.json, gateway.stages.prod: UPSTREAM_VISION_MODEL is missing/),
  ]);
  expect([status, stdout]).toEqual([1, '']);
}, 30_000);

describe('with the web engine', () => {
  const files = (pattern: RegExp) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => pattern.test(path));

  test('it is synthesized without a word, with the built server', () => {
    const gateway = { ...context.gateway, stages: { dev: { engine: 'web', memorySize: '' } } };
    const { status, stderr, stdout } = synthesize({ ...context, commit: '', gateway });
    expect([status, stderr + stdout]).toEqual([0, '']);
    expect(files(/^server\/index\.js$/)).toHaveLength(1);
  }, 60_000);
});

test.each([
  [{ edge: true }, 'E0123456789', ['EdgeAlarms', 'InferenceGateway']],
  [{ edge: true }, undefined, ['InferenceGateway']],
  [{}, 'E0123456789', ['InferenceGateway']],
])(
  'with %j, -c distribution=%s makes the stacks %j',
  (stage, distribution, stacks) => {
    rmSync(folder, { recursive: true });
    const gateway = { ...context.gateway, stages: { dev: stage } };
    const { status, stderr } = synthesize({ ...context, commit: '', gateway, distribution });
    expect([status, stderr]).toEqual([0, '']);
    const templates = readdirSync(folder).filter((file) => file.endsWith('.template.json'));
    expect(templates.sort()).toEqual(stacks.map((name) => `${name}.template.json`));
  },
  60_000,
);

test('an invalid id of a distribution is refused', () => {
  const { status, stderr } = synthesize({ ...context, distribution: 'api.example.com' });
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^-c distribution must be the id of the distribution/)]);
}, 30_000);

test.each([
  // The cdk.json of this repository has an upstream that does not exist, and no address for alarms.
  ['dev', /^warning: cdk\.json, gateway\.defaults: UPSTREAM_BASE_URL is an example, [^\n]+$/],
  [
    'prod',
    /^warning: cdk\.json, gateway\.stages\.prod: alarmEmail is not set: [^\n]+\nwarning: [^\n]+ an example, [^\n]+$/,
  ],
])(
  'the stage %s is synthesized without further output, and without the network',
  (stage, said) => {
    const nowhere = 'http://127.0.0.1:9';
    const env = {
      ...process.env,
      PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
      https_proxy: nowhere,
    };
    const words = ['synth', '--quiet', '--context', `stage=${stage}`, '--output', join(folder, stage)];
    const { status, stdout, stderr } = spawnSync(process.execPath, ['node_modules/aws-cdk/bin/cdk', ...words], {
      env,
      encoding: 'utf8',
    });
    expect(status).toBe(0);
    expect((stdout + stderr).trim()).toMatch(said);
  },
  60_000,
);

test('the command line’s context: a slip is a fault, an unknown name a warning, and a person’s own files pass', () => {
  const home = join(folder, 'home');
  mkdirSync(home);
  writeFileSync(join(home, '.cdk.json'), '{"context": {"stack": "mine"}}');
  const PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`;
  const synth = (...context: readonly string[]) => {
    const words = ['synth', '--quiet', ...context.flatMap((one) => ['-c', one]), '--output', join(folder, 'context')];
    const command = [process.execPath, ['node_modules/aws-cdk/bin/cdk', ...words]] as const;
    const env = { ...process.env, HOME: home, PATH, CDK_VALIDATION: 'false' };
    const { status, stderr } = spawnSync(...command, { env, encoding: 'utf8' });
    return { status, said: stderr.split('\n').filter((line) => line.includes('-c ')) };
  };
  expect(synth('stag=prod', 'GUEST_LIMIT=7', 'colour=red')).toEqual({
    status: 1,
    said: [
      'warning: -c colour does nothing (there are: stage, commit, distribution)',
      '-c stag does nothing: did you mean -c stage=prod?',
      expect.stringMatching(/^-c GUEST_LIMIT does nothing: settings stand in cdk\.json under gateway/),
    ],
  });
  expect(synth('colour=red')).toMatchObject({ status: 0, said: [expect.stringMatching(/^warning: -c colour /)] });
}, 60_000);
