import { runProgram, terminal } from '../operator/command-line.ts';
import { openStore } from '../operator/upstream-key/open-store.ts';
import { createUpstreamKeyProgram } from '../operator/upstream-key/program.ts';
import { readInput } from '../operator/upstream-key/read-input.ts';

await runProgram(createUpstreamKeyProgram({ ...terminal, readInput, openStore }));
