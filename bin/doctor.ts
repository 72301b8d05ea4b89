import { setTimeout as wait } from 'node:timers/promises';
import { runProgram, terminal } from '../operator/command-line.ts';
import { createDoctorCommand } from '../operator/doctor/command.ts';

const program = createDoctorCommand({
  now: () => performance.now(),
  wait,
  folder: process.cwd(),
  ...terminal,
});
await runProgram(program);
