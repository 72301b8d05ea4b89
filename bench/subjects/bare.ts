import { pipe } from './pipe.ts';

/** The limit: a handler that only pipes. */
export const handler = awslambda.streamifyResponse(pipe);
