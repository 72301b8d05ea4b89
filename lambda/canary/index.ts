import { readAwsAccess } from '../aws/access.ts';
import { createAws } from '../aws/call-service.ts';
import { createCanary, readCanaryConfig } from './canary.ts';

/** Called by Lambda every five minutes. */
export const handler = createCanary(readCanaryConfig(process.env), {
  ...createAws(readAwsAccess(process.env), { now: Date.now, random: Math.random }),
  writeLog: (line) => process.stdout.write(line),
  now: Date.now,
});
