import { charge } from './charge.ts';
import { pipe } from './pipe.ts';

/** The floor for a gateway with quota: a handler that charges by one write, as cheaply as it can be sent, and pipes. */
export const handler = awslambda.streamifyResponse(async (event, stream) => {
  await charge();
  await pipe(event, stream);
});
