import type { Measurement } from './measurement.ts';

/** What is deployed: kilobytes of JavaScript, all of it and what every start reads. */
export const size: Measurement = {
  rounds: 1,
  subjects: ['bare', 'bareDynamoDb', 'gateway'],
  run: async ({ size: { total, start } }) => ({ total: [total / 1024], start: [start / 1024] }),
};
