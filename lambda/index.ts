import { readAwsAccess } from './aws/access.ts';
import { createAws } from './aws/call-service.ts';
import { createHandler } from './engines/function-url.ts';
import { createGateway } from './gateway.ts';
import { readConfig } from './settings/config.ts';

const gateway = createGateway(readConfig(process.env), {
  ...createAws(readAwsAccess(process.env), { now: Date.now, random: Math.random }),
  writeLog: (line) => process.stdout.write(line),
  now: Date.now,
});

/** Called by Lambda. Everything above runs once per environment. */
export const handler = createHandler(gateway);
