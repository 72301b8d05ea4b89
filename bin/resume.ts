import { runProgram } from '../operator/command-line.ts';
import { createResumeProgram } from '../operator/keys/stop.ts';
import { surroundings } from '../operator/keys/surroundings.ts';

await runProgram(createResumeProgram(surroundings));
