import type { CallService } from '../../aws/call-service.ts';
import { ServiceError } from '../../aws/repeat.ts';

/** Lets a process that is about to end abort all calls to a service, running and future ones. */
export function createGiveUp(callService: CallService): { readonly call: CallService; giveUp(): void } {
  const running = new Set<(reason: Error) => void>();
  let ended = false;
  const outOfTime = () => new ServiceError('GivenUp', 'the process ends');
  return {
    call: (...input) =>
      new Promise((resolve, reject) => {
        if (ended) return reject(outOfTime());
        running.add(reject);
        callService(...input)
          .then(resolve as (answer: object) => void, reject)
          .finally(() => running.delete(reject));
      }),
    giveUp() {
      ended = true;
      for (const reject of running) reject(outOfTime());
    },
  };
}
