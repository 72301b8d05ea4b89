import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { createStopSwitch } from '../../lambda/store/admin/stop-switch.ts';
import { type DeployedStack, startDeployedStack } from '../support/deployed-stack.ts';
import { runNode } from '../support/run-command.ts';

// Each command is a whole process, of which a busy machine starts one a second or two.
jest.setTimeout(120_000);

let stack: DeployedStack;
beforeAll(async () => {
  stack = await startDeployedStack();
});
afterAll(() => stack[Symbol.asyncDispose]());

const run = (script: 'stop' | 'resume', ...words: string[]) => stack.run(script, words);
const readStop = () => createStopSwitch(stack.dynamoDb.documents, stack.dynamoDb.keysTable).read();

test('one command stops a stack, and prints the other, which lets it serve again', async () => {
  expect(await run('stop', '--reason', 'back at 14:00 UTC')).toContain(
    'npm run resume -- --stack Gateway --region eu-west-3',
  );
  expect(await readStop()).toEqual({ at: expect.stringMatching(/^\d{4}-.*Z$/), reason: 'back at 14:00 UTC' });
  expect(await run('resume')).toContain('Resumed');
  expect(await readStop()).toBeUndefined();
  expect(await run('resume')).toBe('It was not stopped.\n');
});

test('a second stop keeps the reason and time of the first beside its own, or what callers are told, and resuming tells all', async () => {
  const first = JSON.parse(await run('stop', '--reason', 'somebody floods us', '--json'));
  expect(await run('stop', '--reason', 'back at 14:00 UTC')).toContain(
    `\nIt was stopped already at ${first.at} (somebody floods us).\n`,
  );
  const stop = await readStop();
  expect(stop).toEqual({ at: expect.any(String), reason: 'back at 14:00 UTC', earlier: [first] });
  expect(await run('stop')).toContain(' Callers are told: back at 14:00 UTC\nIt was stopped already:\n - at ');
  const third = await readStop();
  expect(third).toMatchObject({ reason: stop?.reason, earlier: [first, { at: stop?.at, reason: stop?.reason }] });
  expect(await run('resume')).toBe(
    'Resumed: within 60 seconds it serves everywhere. It was stopped:\n' +
      ` - at ${first.at} (somebody floods us)\n - at ${stop?.at} (back at 14:00 UTC)\n - at ${third?.at} (back at 14:00 UTC)\n`,
  );
  expect(await readStop()).toBeUndefined();
});

test('--json prints JSON', async () => {
  const stopped = JSON.parse(await run('stop', '--json'));
  expect(stopped).toEqual(await readStop());
  expect(JSON.parse(await run('resume', '--json'))).toEqual({ stopped });
  expect(JSON.parse(await run('resume', '--json'))).toEqual({ stopped: null });
});

test('wrong usage and a missing gateway are distinguished', async () => {
  const environment = { PORT: '18799' };
  const wrong = await runNode('bin/stop.ts', ['--reason', ''], environment);
  expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('1 to 200') });
  const missing = await runNode('bin/resume.ts', [], environment);
  expect(missing).toMatchObject({ code: 1, err: expect.stringContaining('no gateway is running') });
});
