import { pipe } from './pipe.ts';

/** The lower limit: a handler that only pipes. */
export const handler = awslambda.streamifyResponse(pipe);
