import { keyCount } from '../world/store.ts';
import { createCharge } from './charge.ts';
import { servePipe } from './serve-pipe.ts';

/** The floor for a server with quota: each request is charged once, exactly. */
servePipe(createCharge(keyCount));
