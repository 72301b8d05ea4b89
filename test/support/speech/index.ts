import type { DialectName } from '../fixtures.ts';
import { chat } from './chat.ts';
import { messages } from './messages.ts';
import { responses } from './responses.ts';
import type { Teller } from './teller.ts';

export const tellers: Readonly<Record<DialectName, Teller>> = { chat, responses, messages };
