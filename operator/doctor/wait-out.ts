import type { Probe } from './probe.ts';

interface Options {
  readonly wait: (milliseconds: number) => Promise<void>;
  /** Tells a person why nothing happens. */
  readonly tell: (text: string) => void;
}

const longestWait = 60;
const mostWaits = 3;

/**
 * Asks again after the burst limit was reached, as may happen if this runs several times in a minute: such a refusal is free,
 * and over within a minute. A used-up quota has another code, and is not waited for.
 */
export function createWaitOut({ wait, tell }: Options): (probe: Probe) => Probe {
  return (probe) => async (asked) => {
    for (let waits = 0; ; waits += 1) {
      const reply = await probe(asked);
      const seconds = Number(reply.headers.get('retry-after') ?? 0);
      const passes = reply.status === 429 && reply.headers.get('x-should-retry') !== 'false';
      if (!passes || waits === mostWaits || !(seconds > 0 && seconds <= longestWait)) return reply;
      tell(`The burst limit is reached: going on in ${seconds} s.\n`);
      await wait(seconds * 1000);
    }
  };
}
