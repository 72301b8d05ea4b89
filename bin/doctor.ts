import { setTimeout as wait } from 'node:timers/promises';
import { runProgram, terminal } from '../operator/command-line.ts';
import { createDoctorCommand } from '../operator/doctor/command.ts';
import { openTokens } from '../operator/open-stack.ts';

const program = createDoctorCommand({
  now: () => performance.now(),
  wait,
  folder: process.cwd(),
  region: process.env.AWS_REGION || process.env.AWS_DEFAULT_REGION,
  openAws: openTokens,
  ...terminal,
});
await runProgram(program);
