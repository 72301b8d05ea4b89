import { runProgram } from '../operator/command-line.ts';
import { createProgram } from '../operator/keys/program.ts';
import { surroundings } from '../operator/keys/surroundings.ts';

await runProgram(createProgram(surroundings));
