import { GatewayError } from '../errors.ts';
import { lostAnswer } from './counters.ts';

const unreachable = 'The gateway cannot reach its own store right now. Please try again in a moment.';

/** The error for the client. `answerLost`: the operation may have been carried out. The cause goes to the log. */
export function outage(error: unknown, answerLost: boolean): GatewayError {
  const cause = error instanceof GatewayError ? error.cause : error;
  const reason = answerLost ? lostAnswer : undefined;
  return new GatewayError('service_unavailable', unreachable, { source: 'store', reason, cause });
}

/** Why a sum is refused that a number can't hold exactly. */
export const tooLarge = () => new RangeError('a sum beyond 2^53');
