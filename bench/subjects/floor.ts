import { keysInTurn } from '../world/store.ts';
import { createCharge } from './charge.ts';
import { pipe } from './pipe.ts';

const charge = createCharge(keysInTurn);

/** The floor for a gateway with quota: a handler that makes one exact charge, and pipes. */
export const handler = awslambda.streamifyResponse(async (event, stream) => {
  await charge();
  await pipe(event, stream);
});
