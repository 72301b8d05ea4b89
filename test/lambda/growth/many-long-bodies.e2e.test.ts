import { test } from '@jest/globals';
import { sendLongBodies } from './send-long-bodies.ts';

test.each(['chat', 'messages'] as const)(
  'forty long bodies at once, translated to %s, leave a process with 512 MB alive, and others their turn',
  (dialect) => sendLongBodies(dialect, 40),
  300_000,
);
