import { type Finding, fail, ok, untested } from '../examination/row.ts';
import type { Reply } from './probe.ts';

const keepAlive = /^: |^event: ping\r?$/m;

/** Whether streams send keep-alives while the model is silent, every `interval` milliseconds. */
export function judgeSilence(streams: readonly Reply[], interval: number): Finding {
  let longest = 0;
  for (const { title, arrivals } of streams) {
    let lastAt = 0;
    for (const { at } of arrivals) {
      if (at - lastAt > 2 * interval)
        return fail(`${title}: nothing came for ${seconds(at - lastAt)}, not a keep-alive`);
      longest = Math.max(longest, at - lastAt);
      lastAt = at;
    }
  }
  // An upstream's own comments become keep-alives as well, so one alone proves nothing.
  const bridged = longest >= 0.9 * interval && streams.some(({ text }) => keepAlive.test(text));
  if (bridged) return ok(`no silence lasted longer than ${seconds(longest)}`);
  const facts = `the model was silent for ${seconds(longest)} at most, and a keep-alive comes after ${seconds(interval)}`;
  return untested(`${facts}; run it with a model that thinks for longer`);
}

const seconds = (milliseconds: number) => `${Math.round(milliseconds / 100) / 10} s`;
