import type { Measurement } from './measurement.ts';

/** Kilobytes of deployed JavaScript: in total, and what every start reads. */
export const size: Measurement = {
  rounds: 1,
  subjects: ['bare', 'bareDynamoDb', 'gateway'],
  run: async ({ size: { total, start } }) => ({ total: [total / 1024], start: [start / 1024] }),
};
