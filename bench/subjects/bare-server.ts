import { servePipe } from './serve-pipe.ts';

/** The lower limit: a server that only pipes. */
servePipe();
