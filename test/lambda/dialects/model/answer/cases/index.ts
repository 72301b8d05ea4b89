import { emptyCalls, mixed, parallelCalls, singleCalls } from './calls.ts';
import type { ChatCase } from './case.ts';
import { ends } from './ends.ts';
import { reasoning, texts } from './texts.ts';

/** Chat streams as servers were seen to send them, including hostile ones. */
export const chatCases: readonly ChatCase[] = [
  ...[...texts, ...reasoning].map((one) => ({ ...one, name: `a stream with ${one.name}` })),
  ...[...singleCalls, ...emptyCalls, ...parallelCalls, ...mixed].map((one) => ({ ...one, name: `calls: ${one.name}` })),
  ...ends.map((one) => ({ ...one, name: `an end ${one.name}` })),
];
