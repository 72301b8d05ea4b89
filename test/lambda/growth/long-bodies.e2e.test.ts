import { test } from '@jest/globals';
import { sendLongBodies } from './send-long-bodies.ts';

test('five long bodies at once, translated to messages, leave a process with 512 MB alive, and others their turn', () =>
  sendLongBodies('messages', 5));
