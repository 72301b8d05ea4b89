import { afterEach, expect, jest, test } from '@jest/globals';
import { ServiceError } from '../../lambda/aws/repeat.ts';
import { GatewayError } from '../../lambda/errors.ts';
import { outage } from '../../lambda/store/errors.ts';
import { CommandError, createCommand, runProgram, terminal } from '../../operator/command-line.ts';

afterEach(() => {
  process.exitCode = undefined;
  jest.restoreAllMocks();
});

test('no command writes what a terminal obeys, nor a failure that a server has worded', async () => {
  const out = jest.spyOn(console, 'log').mockReturnValue();
  const err = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  const program = createCommand('it', terminal).action(() => {
    terminal.print('a\u001b[2J\n\u202eb');
    throw new CommandError('refused: \u009b2J\u202e');
  });
  await runProgram(program, []);
  expect(out.mock.calls).toEqual([['a?[2J\n?b']]);
  expect(err.mock.calls).toEqual([['error: refused: ?2J?\n']]);
  expect(process.exitCode).toBe(1);
});

test.each([
  ['another failure', new Error('no such file', { cause: new Error('of the system') })],
  ['a refusal without a cause', new GatewayError('invalid_request', 'no such file')],
])('of %s, the operator reads what it says', async (_, failure) => {
  const err = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  await runProgram(
    createCommand('it', terminal).action(() => Promise.reject(failure)),
    [],
  );
  expect(err.mock.calls).toEqual([['error: no such file\n']]);
});

test('of a store that refuses, the operator reads why', async () => {
  const err = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  const cause = new ServiceError('AccessDeniedException', 'not authorized to perform dynamodb:GetItem', {
    status: 400,
  });
  const program = createCommand('it', terminal).action(() => Promise.reject(outage(cause, false)));
  await runProgram(program, []);
  expect(err.mock.calls).toEqual([['error: AccessDeniedException: not authorized to perform dynamodb:GetItem\n']]);
});
