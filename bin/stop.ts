import { runProgram } from '../operator/command-line.ts';
import { createStopProgram } from '../operator/keys/stop.ts';
import { surroundings } from '../operator/keys/surroundings.ts';

await runProgram(createStopProgram(surroundings));
