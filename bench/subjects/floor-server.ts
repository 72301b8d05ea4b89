import { charge } from './charge.ts';
import { servePipe } from './serve-pipe.ts';

/** The floor for a server with quota: each request is charged by one write. */
servePipe(charge);
