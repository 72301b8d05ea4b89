import { runProgram } from '../operator/command-line.ts';
import { createCopyBackProgram } from '../operator/keys/copy-back-program.ts';
import { surroundings } from '../operator/keys/surroundings.ts';

await runProgram(createCopyBackProgram(surroundings));
