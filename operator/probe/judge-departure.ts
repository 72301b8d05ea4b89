import { type Finding, fail, ok, untested } from '../examination/row.ts';
import { type AskOnce, askArtifact } from './ask.ts';

interface World {
  readonly now: () => number;
  readonly wait: (milliseconds: number) => Promise<void>;
}

const staysFor = 300;
const patience = 30_000;

/** How long it takes the server to notice that a client has left. */
export async function judgeDeparture(ask: AskOnce, name: string, { now, wait }: World): Promise<Finding> {
  const begin = now();
  let left = Number.NaN;
  await ask({
    path: `/stay?name=${name}`,
    onData: (leave) => {
      if (Number.isNaN(left) && now() - begin >= staysFor) {
        left = now() - begin;
        leave();
      }
    },
  });
  if (Number.isNaN(left)) return fail('the answer ended before the client had left');
  let known = false;
  for (let waited = 0; waited < patience; waited += 250) {
    const answer = await askArtifact<{ known: boolean; leftAfter?: number }>(ask, { path: `/left?name=${name}` });
    known ||= answer.known;
    // The two clocks started at different times: when the request was sent, and when it arrived.
    if (answer.leftAfter !== undefined) return ok(`${Math.max(0, Math.round(answer.leftAfter - left))} ms later`);
    await wait(250);
  }
  if (known) return fail(`the server has not noticed after ${patience / 1000} s`);
  return untested('another environment answered each time; try again while nobody else calls');
}
